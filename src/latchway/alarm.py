"""One moment at which something is to be done, of which most never come.

A timer of the loop is dear beside what else a request costs, and nearly all are called off. So one
is kept below the moment: it stays as it is when that moves later or is called off, and what rings
too early is set again.
"""

from __future__ import annotations

from collections.abc import Callable

from latchway.ports import Clock, Timer


class Alarm:
    """Seconds from now on `clock`. Setting it again moves it; nothing rings after `stop`."""

    __slots__ = ("_clock", "_due", "_then", "_timer", "_timer_at")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due = self._timer_at = 0.0
        self._then: Callable[[], None] | None = None
        self._timer: Timer | None = None

    def set(self, seconds: float, then: Callable[[], None]) -> None:
        self._due, self._then = self._clock.time() + seconds, then
        if self._timer is not None and self._due < self._timer_at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._arm()

    def clear(self) -> None:
        """Call it off. It is going to be set again."""
        self._then = None

    def stop(self) -> None:
        """Call it off for good."""
        self._then = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        self._timer_at = self._due
        self._timer = self._clock.call_at(self._due, self._ring)

    def _ring(self) -> None:
        self._timer, then = None, self._then
        if then is not None and self._clock.time() < self._due:
            self._arm()
        elif then is not None:
            self._then = None
            then()
