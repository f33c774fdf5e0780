"""What is special over HTTP: one SDK, its retries off, whoever made it."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, OpenAI

from lab.harness import running
from latchway_client import AsyncSseClient, How, SseClient, TurnFailed
from latchway_client.http import broken_by
from library.asking import asked

BUSY = {"status": 503, "headers": {"x-should-retry": "true", "retry-after": "0"}}
WHOLE = {"events": ["created", {"completed": {}}]}
REQUEST = httpx.Request("POST", "http://127.0.0.1/v1/responses")


def test_a_client_of_the_callers_is_used_without_its_retries_and_left_open() -> None:
    with running([BUSY]) as lab:
        with OpenAI(base_url=f"http://127.0.0.1:{lab.port}/v1", api_key="own") as sdk:
            with SseClient(sdk=sdk) as client, pytest.raises(TurnFailed):
                client.send(**asked({}))
            assert not sdk.is_closed()
        calls = list(lab.lab.calls)
    assert len(calls) == 1
    assert calls[0].headers["authorization"] == "Bearer own"


def test_an_async_one_is_left_open_too() -> None:
    async def close() -> bool:
        async with AsyncOpenAI(base_url="http://127.0.0.1:1", api_key="own") as sdk:
            async with AsyncSseClient(sdk=sdk):
                pass
            return sdk.is_closed()

    assert not asyncio.run(close())


def test_the_request_goes_out_as_it_is() -> None:
    with running([WHOLE]) as lab, SseClient(f"http://127.0.0.1:{lab.port}/v1", "key") as client:
        client.send(model="m", input="hi", store=False, field_of_tomorrow=[1])
        call = lab.over()
    assert json.loads(call.body) == {
        "model": "m", "input": "hi", "store": False, "field_of_tomorrow": [1], "stream": True,
    }  # fmt: skip
    assert call.headers["accept"] == "text/event-stream"


def caused(error: APIConnectionError, cause: Exception) -> APIConnectionError:
    error.__cause__ = cause
    return error


FAULTS: list[tuple[Exception, How]] = [
    (caused(APIConnectionError(request=REQUEST), httpx.ConnectError("")), How.NOT_CONNECTED),
    (caused(APITimeoutError(request=REQUEST), httpx.ConnectTimeout("")), How.NOT_CONNECTED),
    (caused(APITimeoutError(request=REQUEST), httpx.PoolTimeout("")), How.NOT_CONNECTED),
    (caused(APITimeoutError(request=REQUEST), httpx.ReadTimeout("")), How.TIMED_OUT),
    (caused(APITimeoutError(request=REQUEST), httpx.WriteTimeout("")), How.TIMED_OUT),
    (caused(APIConnectionError(request=REQUEST), httpx.ReadError("")), How.BROKEN),
    (httpx.ReadTimeout(""), How.TIMED_OUT),
    (httpx.RemoteProtocolError(""), How.BROKEN),
]


@pytest.mark.parametrize(("fault", "how"), FAULTS)
def test_what_a_fault_means(fault: Exception, how: How) -> None:
    assert broken_by(fault).how is how
