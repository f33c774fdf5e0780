"""The loop that people write with `websockets`: one create, events until a terminal one."""

from __future__ import annotations

import asyncio
import json

import websockets
from seen import Job, Seen, work
from websockets.exceptions import WebSocketException

TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")

runner = asyncio.Runner()
kept: dict[str, websockets.ClientConnection] = {}


def connect(job: Job) -> websockets.connect:
    url = job["url"].replace("http", "ws", 1) + "/responses"
    headers = {"Authorization": f"Bearer {job['key']}"}
    return websockets.connect(url, additional_headers=headers, max_size=None)


async def turn(socket: websockets.ClientConnection, job: Job, seen: Seen) -> None:
    await socket.send(json.dumps({"type": "response.create", **job["request"]}))
    async for message in socket:
        event = json.loads(message)
        seen.event(event)
        if event["type"] in TERMINAL:
            break


async def on_own_socket(job: Job, seen: Seen) -> None:
    async with connect(job) as socket:
        await turn(socket, job, seen)


async def on_kept_socket(job: Job, seen: Seen) -> None:
    """The same socket for all turns, whatever became of those before."""
    if job["url"] not in kept:
        kept[job["url"]] = await connect(job)
    await turn(kept[job["url"]], job, seen)


MODES = {"socket": on_own_socket, "kept socket": on_kept_socket}


def run(job: Job) -> Seen:
    """One turn."""
    seen = Seen()
    try:
        runner.run(MODES[job["mode"]](job, seen))
    except WebSocketException as error:
        seen.exception(error)
    return seen


if __name__ == "__main__":
    work(run)
