"""The OpenAI SDK for Python, old or new: a mode is one of its ways to ask for a response."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from openai import AsyncOpenAI, OpenAI, OpenAIError
from seen import Job, Seen, work
from websockets.exceptions import ConnectionClosed

TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")
RAISED = (OpenAIError, ConnectionClosed, RuntimeError)
"""RuntimeError: the helper's, for a stream without `response.completed`."""


def plain(value: Any) -> dict[str, Any]:
    """A model of the SDK as plain values. Also what no type of it fits keeps its fields."""
    return value.model_dump(mode="json", warnings=False)


def note_body(seen: Seen, response: Any) -> None:
    seen.response(plain(response))
    seen.types.append(response.status)
    seen.text = response.output_text


def stream(client: OpenAI, request: dict[str, Any], seen: Seen) -> None:
    for event in client.responses.create(stream=True, **request):
        seen.event(plain(event))


def helper(client: OpenAI, request: dict[str, Any], seen: Seen) -> None:
    with client.responses.stream(**request) as events:
        for event in events:
            seen.event(plain(event))
        assert events.get_final_response().output_text == seen.text


def body(client: OpenAI, request: dict[str, Any], seen: Seen) -> None:
    note_body(seen, client.responses.create(**request))


def socket(client: OpenAI, request: dict[str, Any], seen: Seen) -> None:
    with client.responses.connect() as connection:
        connection.response.create(**request)
        for event in connection:
            seen.event(plain(event))
            if event.type in TERMINAL:
                break


async def async_stream(client: AsyncOpenAI, request: dict[str, Any], seen: Seen) -> None:
    async for event in await client.responses.create(stream=True, **request):
        seen.event(plain(event))


async def async_helper(client: AsyncOpenAI, request: dict[str, Any], seen: Seen) -> None:
    async with client.responses.stream(**request) as events:
        async for event in events:
            seen.event(plain(event))
        assert (await events.get_final_response()).output_text == seen.text


async def async_body(client: AsyncOpenAI, request: dict[str, Any], seen: Seen) -> None:
    note_body(seen, await client.responses.create(**request))


async def async_socket(client: AsyncOpenAI, request: dict[str, Any], seen: Seen) -> None:
    async with client.responses.connect() as connection:
        await connection.response.create(**request)
        async for event in connection:
            seen.event(plain(event))
            if event.type in TERMINAL:
                break


SYNC = {"stream": stream, "helper": helper, "body": body, "socket": socket}
ASYNC = {
    "async stream": async_stream,
    "async helper": async_helper,
    "async body": async_body,
    "async socket": async_socket,
}


runner = asyncio.Runner()


@cache
def client_of(kind: type[OpenAI | AsyncOpenAI], url: str, key: str, retries: int) -> Any:
    """One client for all its turns, as in a real program: its connections are used again."""
    return kind(base_url=url, api_key=key, max_retries=retries)


def run(job: Job) -> Seen:
    """One turn in the job's mode; what the SDK raises is part of what was seen."""
    seen, mode = Seen(), job["mode"]
    told = job["url"], job["key"], job["max_retries"]
    try:
        if mode in SYNC:
            SYNC[mode](client_of(OpenAI, *told), job["request"], seen)
        else:
            runner.run(ASYNC[mode](client_of(AsyncOpenAI, *told), job["request"], seen))
    except RAISED as error:
        seen.exception(error)
    return seen


if __name__ == "__main__":
    work(run)
