"""The lab: a server on 127.0.0.1 that plays a script and remembers every call.

In a test: `lab = Lab()`, `port = await lab.start(script)`, then `lab.calls`, `await lab.until(…)`,
`await lab.stop()`. `run` is the command `latchway lab`.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

from latchway.lab.asked import Asked
from latchway.lab.calls import Call, Received
from latchway.lab.checked import load, parse
from latchway.lab.connection import Connection
from latchway.lab.play import Part
from latchway.lab.reading import ScriptError
from latchway.lab.script import NO_ROUTE, Body, Reply, Script

HOST = "127.0.0.1"
"""The loopback alone: a lab answers whoever asks, and does what a broken server does."""
DEFAULT_PORT = 9001
MAX_REMEMBERED = 10_000
"""Calls kept, the oldest forgotten: `latchway lab` may run for days."""


class Lab:
    """`report` is called with each call when it is over."""

    def __init__(self, report: Callable[[Call], None] | None = None) -> None:
        self.calls: list[Call] = []
        self._report = report
        self._made = 0
        self._joined = 0
        self._connections: set[Connection] = set()
        self._changed = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def start(self, script: Script | list[Any] | dict[str, Any], port: int = 0) -> int:
        """Listen; returns the port. Raises ScriptError, or OSError if the port is taken."""
        self._script = script if isinstance(script, Script) else parse(script)
        self._played: Counter[int] = Counter()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), HOST, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """No longer listen; what is still open is reset. `calls` stays."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self._connections):
            await connection.stop()
        await self._server.wait_closed()
        self._server = None

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until it is true; it is asked again whenever something happened to a call."""
        while not condition():
            changed = self._changed
            await changed.wait()

    # ---- what a connection needs (connection.Stage)

    def joined(self, connection: Connection) -> int:
        self._connections.add(connection)
        self._joined += 1
        return self._joined

    def parted(self, connection: Connection) -> None:
        self._connections.discard(connection)

    def plain(self, received: Received) -> Part | None:
        path = received.path.partition("?")[0].rstrip("/")
        if received.method != "GET":
            return None
        if path.endswith("/models"):
            return _part(Reply("none", body=Body(_models(self._script.models))), Asked())
        if path.startswith("/health"):
            return _part(Reply("none", body=Body({"status": "ok"})), Asked())
        return None

    def next_part(self, received: Received) -> Part:
        place = self._script.branch_for(received.asked)
        if place is None:
            return _part(NO_ROUTE, received.asked)
        reply = self._script.branches[place].reply(self._played[place])
        return _part(reply, received.asked)

    def begin(self, received: Received, connection: int) -> tuple[Call, Part]:
        part = self.next_part(received)
        place = self._script.branch_for(received.asked)
        if place is not None:
            self._played[place] += 1
        self._made += 1
        call = Call(self._made, received, part.reply.path, connection, time.monotonic())
        self.calls.append(call)
        del self.calls[:-MAX_REMEMBERED]
        self._notify()
        return call, part

    def wrote(self, call: Call, events: int) -> None:
        call.answered = call.answered or time.monotonic()
        call.events += events
        self._notify()

    def end(self, call: Call, outcome: str) -> None:
        call.outcome, call.over = outcome, time.monotonic()
        self._notify()
        if self._report is not None:
            self._report(call)

    def left(self, call: Call, how: str) -> None:
        call.left, call.left_at = how, time.monotonic()
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def run(script: str | Path, port: int = DEFAULT_PORT) -> int:
    """The command: play a script until SIGINT or SIGTERM. Returns the exit code.

    The URL and a line for each call go to standard error. 1: the script or the port cannot be used.
    """
    try:
        checked = load(script)
        asyncio.run(_serve(checked, str(script), port))
    except ScriptError as error:
        _say(str(error))
        return 1
    except OSError as error:
        _say(f"lab: cannot listen on {HOST}:{port}: {error.strerror}; choose another --port")
        return 1
    return 0


async def _serve(script: Script, name: str, port: int) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    lab = Lab(report=lambda call: _say(str(call)))
    port = await lab.start(script, port)
    _say(f"lab: {name} on http://{HOST}:{port}/v1 (also ws://); Ctrl-C ends it")
    await stopped.wait()
    await lab.stop()
    _say(f"lab: ended after {len(lab.calls)} call{'' if len(lab.calls) == 1 else 's'}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _part(reply: Reply, asked: Asked) -> Part:
    return Part(reply, asked, f"resp_{token_hex(12)}", int(time.time()))


def _models(names: tuple[str, ...]) -> dict[str, Any]:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "lab"} for name in names]
    return {"object": "list", "data": data}
