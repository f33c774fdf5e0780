"""The loop that people write with `websockets`: one create, events until a terminal one."""

from __future__ import annotations

import asyncio
import json

import websockets
from seen import Job, Seen, work
from websockets.exceptions import WebSocketException

TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")


async def turn(job: Job, seen: Seen) -> None:
    url = job["url"].replace("http", "ws", 1) + "/responses"
    headers = {"Authorization": f"Bearer {job['key']}"}
    async with websockets.connect(url, additional_headers=headers, max_size=None) as socket:
        await socket.send(json.dumps({"type": "response.create", **job["request"]}))
        async for message in socket:
            event = json.loads(message)
            seen.event(event)
            if event["type"] in TERMINAL:
                break


def run(job: Job) -> Seen:
    """One turn on a socket of its own."""
    seen = Seen()
    try:
        asyncio.run(turn(job, seen))
    except WebSocketException as error:
        seen.exception(error)
    return seen


if __name__ == "__main__":
    work(run)
