"""The upstreams of a run: two labs in a thread of their own, and places where nobody answers."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future
from typing import Any

from latchway.lab.calls import Call
from latchway.lab.server import Lab

SECONDS = 10.0
"""Whatever a lab's thread is asked to do takes milliseconds."""


class Labs:
    """Two labs that run from the making to `close`. `ports`: theirs, the first route's first.

    `labs`: others than plain ones.
    """

    def __init__(
        self, first: dict[str, Any], second: dict[str, Any], labs: tuple[Lab, Lab] | None = None
    ) -> None:
        self._scripts = (first, second)
        self._labs = labs or (Lab(), Lab())
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._started: Future[tuple[int, ...]] = Future()
        self._thread = threading.Thread(target=self._run, name="labs", daemon=True)
        self._thread.start()
        self.ports = self._started.result(SECONDS)

    def calls(self, label: str) -> tuple[list[Call], list[Call]]:
        """The calls at each lab whose body has this label."""
        first, second = ([c for c in lab.calls if label.encode() in c.body] for lab in self._labs)
        return first, second

    def wait_for(self, lab: int, wanted: int, label: str) -> None:
        """Until so many calls with the label have come to a lab. Raises TimeoutError."""

        def enough() -> bool:
            return len(self.calls(label)[lab]) >= wanted

        done = asyncio.run_coroutine_threadsafe(self._labs[lab].until(enough), self._loop)
        done.result(SECONDS)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        pairs = zip(self._labs, self._scripts, strict=True)
        self._started.set_result(tuple([await lab.start(script) for lab, script in pairs]))
        await self._stop.wait()
        for lab in self._labs:
            await lab.stop()


class Nowhere:
    """Two addresses at which no call ever begins: one refuses, one never takes the connection."""

    def __init__(self) -> None:
        self._refusing = socket.socket()
        self._refusing.bind(("127.0.0.1", 0))
        self._full = socket.create_server(("127.0.0.1", 0), backlog=0)
        self._waiting = [self._fill(), self._fill()]

    @property
    def refusing(self) -> int:
        """A port that is bound, so that nobody else gets it, and not listened at."""
        return int(self._refusing.getsockname()[1])

    @property
    def deaf(self) -> int:
        """A port whose backlog is full: a connection is neither made nor refused."""
        return int(self._full.getsockname()[1])

    def close(self) -> None:
        for each in (self._refusing, self._full, *self._waiting):
            each.close()

    def _fill(self) -> socket.socket:
        waiting = socket.socket()
        waiting.setblocking(False)
        waiting.connect_ex(self._full.getsockname())
        return waiting
