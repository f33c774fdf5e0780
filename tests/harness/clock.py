"""A clock that moves only when it is told to: hours pass in a test, and none of them is waited."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class VirtualTimer:
    """One entry of the clock's agenda."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    """`ports.Clock`. What is due at one moment happens in the order in which it was asked for."""

    def __init__(self, now: float = 1000.0) -> None:
        self._now = now
        self._agenda: list[tuple[float, int, VirtualTimer]] = []
        self._order = count()

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], object], /) -> VirtualTimer:
        timer = VirtualTimer(callback)
        heapq.heappush(self._agenda, (when, next(self._order), timer))
        return timer

    def soon(self, callback: Callable[[], object]) -> None:
        """As a loop's next round."""
        self.call_at(self._now, callback)

    def advance(self, seconds: float = 0.0) -> None:
        """Let time pass; everything happens at its own moment. 0: what is due now."""
        until = self._now + seconds
        while self._agenda and self._agenda[0][0] <= until:
            when, _, timer = heapq.heappop(self._agenda)
            self._now = max(self._now, when)
            if timer.callback is not None:
                timer.callback()
        self._now = until

    @property
    def pending(self) -> int:
        """How much is still on the agenda."""
        return sum(timer.callback is not None for _, _, timer in self._agenda)
