"""`latchway_client`, over both transports, sync and async: a mode is one of its four clients.

What a failure carries is told in `raised`: how the turn ended, and whether output had come.
"""

from __future__ import annotations

import asyncio
import sys
from functools import cache
from pathlib import Path
from typing import Any

from seen import Job, Seen, work

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "client" / "src"))

import latchway_client as library

CLIENTS: dict[str, Any] = {
    "sse": library.SseClient,
    "websocket": library.WebSocketClient,
    "async sse": library.AsyncSseClient,
    "async websocket": library.AsyncWebSocketClient,
}

runner = asyncio.Runner()


@cache
def client_of(mode: str, url: str, key: str) -> Any:
    """One client for all its turns: its connections are used again, but after a failure."""
    return CLIENTS[mode](url, key)


def note(seen: Seen, event: dict[str, Any]) -> None:
    seen.types.append(event["type"])


def turn(client: Any, request: dict[str, Any], seen: Seen) -> None:
    with client.stream(**request) as running:
        for event in running:
            note(seen, event)
    note_result(seen, running.result)


async def async_turn(client: Any, request: dict[str, Any], seen: Seen) -> None:
    async with client.stream(**request) as running:
        async for event in running:
            note(seen, event)
    note_result(seen, running.result)


def note_result(seen: Seen, result: library.Result) -> None:
    assert result.completed
    seen.text = result.text
    seen.ids = [result.response_id] if result.response_id else []


def note_failure(seen: Seen, failed: library.TurnFailed) -> None:
    seen.text, seen.code, seen.status = failed.text, failed.code, failed.status
    seen.ids = [failed.response_id] if failed.response_id else []
    seen.raised = f"{failed.how} after_output={failed.after_output}"


def run(job: Job) -> Seen:
    """One turn in the job's mode."""
    seen, mode = Seen(), job["mode"]
    client = client_of(mode, job["url"], job["key"])
    try:
        if mode.startswith("async"):
            runner.run(async_turn(client, job["request"], seen))
        else:
            turn(client, job["request"], seen)
    except library.TurnFailed as failed:
        note_failure(seen, failed)
    return seen


if __name__ == "__main__":
    work(run)
