"""A client that takes no byte for `write_stall_seconds` is gone (R5)."""

from __future__ import annotations

import asyncio

from latchway.ports import Clock, Timer

CHECKS = 4
"""Looks at the unsent bytes within that time; a client counts as gone when none saw progress."""


class StallWatch:
    """Watches the unsent bytes of `transport` from when writing was paused until it resumes, and
    cuts it off if they do not grow fewer."""

    __slots__ = ("_clock", "_last", "_seconds", "_still", "_timer", "_transport")

    def __init__(self, clock: Clock, seconds: float, transport: asyncio.Transport) -> None:
        self._clock, self._seconds, self._transport = clock, seconds, transport
        self._last = self._still = 0
        self._timer: Timer | None = None

    def start(self) -> None:
        self.stop()
        self._last, self._still = self._transport.get_write_buffer_size(), 0
        self._wait()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        look_at = self._clock.time() + self._seconds / CHECKS
        self._timer = self._clock.call_at(look_at, self._look)

    def _look(self) -> None:
        unsent = self._transport.get_write_buffer_size()
        self._still = self._still + 1 if unsent >= self._last else 0
        self._last = unsent
        if self._still >= CHECKS:
            self._transport.abort()
        else:
            self._wait()
