"""Turns over HTTP, as server-sent events, on the OpenAI SDK.

The SDK makes the request: keys, proxies, TLS, connections. Its own retries are off, because it
cannot know what the application did with what came. Its stream is not used: that ends a cut-off
answer like a whole one, and keeps neither request ids nor the body of an answer that is no stream.

A turn ends with its terminal event, and its connection with it: a server that keeps the body open
after that event holds nobody up.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAI, OpenAIError

from latchway_client.clients import AsyncClient, Client, checked
from latchway_client.ends import Break, How
from latchway_client.events import Event
from latchway_client.limits import TIMEOUT_SECONDS
from latchway_client.reading import Reading
from latchway_client.sse import SseReader

TRANSPORTS = tuple(name for name in ("httpx", "httpx2") if find_spec(name))
"""The HTTP library of the SDK: the second since its version 3."""

FAULTS = (OpenAIError, *(import_module(name).HTTPError for name in TRANSPORTS))
"""What can end a request: the SDK's exceptions before the answer, its library's within it."""

HOWS = {
    "ConnectError": How.NOT_CONNECTED,
    "ConnectTimeout": How.NOT_CONNECTED,
    "PoolTimeout": How.NOT_CONNECTED,
    "ReadTimeout": How.TIMED_OUT,
    "WriteTimeout": How.TIMED_OUT,
}
"""By the name of the exception of either library. Every other one: the connection broke."""


class SseClient(Client):
    """`sdk`: an OpenAI client of yours, with its own timeout; else one is made of the rest."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        sdk: OpenAI | None = None,
    ) -> None:
        made = sdk or OpenAI(base_url=base_url, api_key=api_key, timeout=timeout)
        checked(made.api_key)
        self._own = made if sdk is None else None
        self._sdk = made.with_options(max_retries=0)

    def close(self) -> None:
        """Close the SDK's client if it was made here."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> SseClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _events(self, request: dict[str, Any], reading: Reading) -> Generator[Event, None, None]:
        create = self._sdk.responses.with_streaming_response.create
        try:
            with create(**asked(request)) as answer:
                reading.answered(answer.headers)
                reader = SseReader()
                for chunk in answer.iter_bytes():
                    yield from reader.feed(chunk)
                    if reader.done:
                        break
                raise reader.end()
        except FAULTS as fault:
            raise broken_by(fault) from fault


class AsyncSseClient(AsyncClient):
    """`sdk`: an OpenAI client of yours, with its own timeout; else one is made of the rest."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        sdk: AsyncOpenAI | None = None,
    ) -> None:
        made = sdk or AsyncOpenAI(base_url=base_url, api_key=api_key, timeout=timeout)
        checked(made.api_key)
        self._own = made if sdk is None else None
        self._sdk = made.with_options(max_retries=0)

    async def close(self) -> None:
        """Close the SDK's client if it was made here."""
        if self._own is not None:
            await self._own.close()

    async def __aenter__(self) -> AsyncSseClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _events(
        self, request: dict[str, Any], reading: Reading
    ) -> AsyncGenerator[Event, None]:
        create = self._sdk.responses.with_streaming_response.create
        try:
            async with create(**asked(request)) as answer:
                reading.answered(answer.headers)
                reader = SseReader()
                async for chunk in answer.iter_bytes():
                    for event in reader.feed(chunk):
                        yield event
                    if reader.done:
                        break
                raise reader.end()
        except FAULTS as fault:
            raise broken_by(fault) from fault


def asked(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request as the SDK takes it. As a body of its own: it knows not every field."""
    return {
        "extra_body": {**request, "stream": True},
        "extra_headers": {"Accept": "text/event-stream"},
    }


def broken_by(fault: Exception) -> Break:
    """What a fault of the SDK or its library means for the turn."""
    if isinstance(fault, APIStatusError):
        message = f"the server answered with status {fault.status_code}"
        return Break(
            How.HTTP_STATUS,
            message,
            status=fault.status_code,
            headers=fault.response.headers,
            body=fault.response.text,
        )
    cause = fault.__cause__ if isinstance(fault, APIConnectionError) else fault
    how = HOWS.get(type(cause).__name__, How.BROKEN)
    return Break(how, f"{type(cause).__name__}: {cause}")
