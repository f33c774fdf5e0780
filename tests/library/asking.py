"""The library's four clients, asked in one way, so that a table can be played on each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from latchway_client import (
    AsyncSseClient,
    AsyncWebSocketClient,
    Event,
    Failure,
    Result,
    SseClient,
    TurnFailed,
    WebSocketClient,
)

PATIENCE = 0.3
"""Seconds without an event, of a client that shall lose patience."""


@dataclass
class Heard:
    """What an application was given of one turn."""

    events: list[Event] = field(default_factory=list)
    saw_output: list[bool] = field(default_factory=list)
    """After each event."""
    result: Result | None = None
    failure: Failure | None = None

    @property
    def types(self) -> list[str]:
        return [event["type"].removeprefix("response.") for event in self.events]


def sync(make: Callable[[str], Any]) -> Callable[..., Heard]:
    """Ask with a client that blocks."""

    def ask(url: str, **request: Any) -> Heard:
        heard = Heard()
        try:
            with make(url) as client, client.stream(**asked(request)) as turn:
                for event in turn:
                    heard.events.append(event)
                    heard.saw_output.append(turn.saw_output)
                heard.result = turn.result
        except TurnFailed as failed:
            heard.failure = failed.failure
        return heard

    return ask


def asynchronous(make: Callable[[str], Any]) -> Callable[..., Heard]:
    """Ask with a client that awaits."""

    async def ask(url: str, **request: Any) -> Heard:
        heard = Heard()
        try:
            async with make(url) as client, client.stream(**asked(request)) as turn:
                async for event in turn:
                    heard.events.append(event)
                    heard.saw_output.append(turn.saw_output)
                heard.result = turn.result
        except TurnFailed as failed:
            heard.failure = failed.failure
        return heard

    return lambda url, **request: asyncio.run(ask(url, **request))


def asked(request: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "input": "hi", "store": False, **request}


def kinds(key: str = "key", seconds: float = 30.0) -> dict[str, Callable[..., Heard]]:
    """Every client, by its name. `seconds`: without an event."""
    return {
        "sse": sync(lambda url: SseClient(url, key, timeout=seconds)),
        "async sse": asynchronous(lambda url: AsyncSseClient(url, key, timeout=seconds)),
        "websocket": sync(lambda url: WebSocketClient(url, key, event_timeout=seconds)),
        "async websocket": asynchronous(
            lambda url: AsyncWebSocketClient(url, key, event_timeout=seconds)
        ),
    }


ASK = kinds()
IMPATIENT = kinds(seconds=PATIENCE)
OVER_HTTP = ("sse", "async sse")
OVER_SOCKET = ("websocket", "async websocket")
EVERY = (*OVER_HTTP, *OVER_SOCKET)
