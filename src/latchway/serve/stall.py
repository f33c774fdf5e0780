"""A client that takes no byte for `write_stall_seconds` is gone (R5)."""

from __future__ import annotations

from collections.abc import Callable

from latchway.ports import Clock, Timer

CHECKS = 4
"""Looks at the unsent bytes within that time; a client counts as gone when none saw progress."""


class StallWatch:
    """Watches unsent bytes from when writing was paused until it resumes.

    `unsent`: bytes that wait to be taken; `gone`: called once if they do not grow fewer.
    """

    __slots__ = ("_clock", "_gone", "_interval", "_last", "_still", "_timer", "_unsent")

    def __init__(
        self, clock: Clock, seconds: float, unsent: Callable[[], int], gone: Callable[[], None]
    ) -> None:
        self._clock, self._interval = clock, seconds / CHECKS
        self._unsent, self._gone = unsent, gone
        self._last = self._still = 0
        self._timer: Timer | None = None

    def start(self) -> None:
        self.stop()
        self._last, self._still = self._unsent(), 0
        self._wait()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = self._clock.call_at(self._clock.time() + self._interval, self._look)

    def _look(self) -> None:
        unsent = self._unsent()
        self._still = self._still + 1 if unsent >= self._last else 0
        self._last = unsent
        if self._still >= CHECKS:
            self._gone()
        else:
            self._wait()
