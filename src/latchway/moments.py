"""The clock of a process: one timer of the loop for all the moments that are waited for.

A timer of the loop holds half a KiB with all that belongs to it, and an open stream waits for two
or three moments, of which most never come. Here they lie in a heap, each of a fifth of that, and
the loop is asked for the earliest alone.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

import msgspec

EARLY_SECONDS = 0.0005
"""The loop rounds to milliseconds: asked for a moment, it may ring so long before it. So it is
asked for so much more, and what it rings for is due."""

ROOM = 1024
"""Moments below which those that were called off are not looked for: it would not pay."""


class Moment(msgspec.Struct, order=True, gc=False):
    """`ports.Timer`. The earlier one is less; of two at once, the one that was asked for first."""

    when: float
    number: int
    """No two have the same, so what is to be done is never compared."""
    then: Callable[[], object] | None

    def cancel(self) -> None:
        self.then = None

    def ring(self) -> None:
        then, self.then = self.then, None
        if then is not None:
            then()


class Moments:
    """`ports.Clock` for all that a process's turns and connections wait for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.time = loop.time
        self._numbers = count()
        self._waiting: list[Moment] = []
        self._room = ROOM
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    def call_at(self, when: float, callback: Callable[[], object], /) -> Moment:
        moment = Moment(when, next(self._numbers), callback)
        if len(self._waiting) >= self._room:
            self._sweep()
        heapq.heappush(self._waiting, moment)
        if self._timer is None or when < self._rings_at:
            self._set()
        return moment

    def _set(self) -> None:
        """Ask the loop for the earliest moment."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            self._rings_at = self._waiting[0].when
            self._timer = self._loop.call_at(self._rings_at + EARLY_SECONDS, self._ring)

    def _ring(self) -> None:
        """Each is called by the loop itself: a fault of one is not another's."""
        now = self.time()
        while self._waiting and self._waiting[0].when <= now:
            self._loop.call_soon(heapq.heappop(self._waiting).ring)
        self._set()

    def _sweep(self) -> None:
        """Forget what was called off. Next when as many have been added as are left: so the cost is
        the same for each, however many there are."""
        self._waiting = [moment for moment in self._waiting if moment.then is not None]
        heapq.heapify(self._waiting)
        self._room = max(ROOM, 2 * len(self._waiting))
