"""Runs one watch: the call, the turn's clocks, and whoever stops it."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections import deque
from contextlib import suppress
from typing import Protocol

from latchway.watch.address import Address
from latchway.watch.asking import Asking
from latchway.watch.credential import Credential
from latchway.watch.http import HttpCall
from latchway.watch.recording import Recording
from latchway.watch.seen import Noted, Report, Seen
from latchway.watch.show import Show
from latchway.watch.watcher import Watcher
from latchway.watch.websocket import SocketCall

AFTER_SECONDS = 1.0
"""From the turn's end to the end of the body, or of the connection: what comes behind it shall be
seen, and recorded. The gateway waits as long for a connection that it wants to keep."""


class Call(Protocol):
    """A call of either transport."""

    ended_by_itself: bool

    def start(self, address: Address, tls: ssl.SSLContext) -> None: ...
    def close(self) -> None: ...


class Watch:
    """One turn, sent and watched to its end."""

    def __init__(
        self, address: Address, asking: Asking, credential: Credential, show: Show
    ) -> None:
        self._address, self._asking = address, asking
        self._credential, self._show = credential, show
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._changed = asyncio.Event()
        self._stopped = False
        self.recording = Recording(self._now)
        self._told: deque[Seen | Noted] = deque()
        """What is still to be shown. Not from within a callback of the connection: whoever reads
        may have left, and that ends the watch."""
        self._watcher = Watcher(asking, self._told.append, self._now)

    def stop(self) -> None:
        """Whoever watches has seen enough."""
        self._stopped = True
        self._changed.set()

    async def run(self, tls: ssl.SSLContext) -> Report:
        self._show.begin(self._address, self._asking)
        call = self._call()
        call.start(self._address, tls)
        try:
            await self._until_over()
            await self._until_parted(call)
        finally:
            call.close()
        report = self._watcher.finish()
        self._show_told()
        self._show.end(report)
        return report

    def _show_told(self) -> None:
        while self._told:
            self._show.tell(self._told.popleft())

    def _call(self) -> Call:
        kind = SocketCall if self._address.websocket else HttpCall
        return kind(
            self._asking, self._credential, self._watcher, self.recording, self._changed.set
        )

    async def _until_over(self) -> None:
        """To the end of the turn, with its clocks."""
        watcher = self._watcher
        while not (watcher.over or self._stopped):
            due = watcher.due()
            if due is not None and due <= self._now():
                watcher.tick()
            else:
                await self._change(due)

    async def _until_parted(self, call: Call) -> None:
        """To the end of the connection, for a little while."""
        due = self._now() + AFTER_SECONDS
        while not (call.ended_by_itself or self._stopped or self._now() >= due):
            await self._change(due)

    async def _change(self, due: float | None) -> None:
        """Show what has happened; wait until more has, or it is `due`."""
        self._show_told()
        self._changed.clear()
        left = None if due is None else due - self._now()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), left)

    def _now(self) -> float:
        return self._loop.time() - self._began


async def watch(
    address: Address, asking: Asking, credential: Credential, show: Show, tls: ssl.SSLContext
) -> tuple[Report, Recording]:
    """Watch one turn; Ctrl-C and SIGTERM end it early, and the report is still told."""
    watching = Watch(address, asking, credential, show)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, watching.stop)
    return await watching.run(tls), watching.recording
