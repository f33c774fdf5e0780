"""Those who wait for the ledger, oldest first, with one timer for all of them.

An answer that does not come in time is given up: whoever asked is told so, and whoever would have
answered knows that nobody listens any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from latchway.ports import Clock, Timer


class Waits(Protocol):
    """Something that was asked. `due`: when it is given up, on the clock."""

    due: float
    answered: bool
    given_up: bool


Asked = TypeVar("Asked", bound=Waits)


class Deadlines(Generic[Asked]):
    """`late` gets all that are given up at one moment, in the order in which they were asked."""

    def __init__(self, clock: Clock, late: Callable[[list[Asked]], None]) -> None:
        self._clock, self._late = clock, late
        self._waiting: deque[Asked] = deque()
        self._timer: Timer | None = None

    def add(self, asked: Asked) -> None:
        """The last one to be due: whoever asks later waits longer."""
        self._waiting.append(asked)
        if self._timer is None:
            self._timer = self._clock.call_at(asked.due, self._ring)

    def __iter__(self) -> Iterator[Asked]:
        return (asked for asked in self._waiting if not asked.answered)

    def forget_answered(self) -> None:
        """Those at the head; what waits behind one that still waits is kept a little longer."""
        while self._waiting and self._waiting[0].answered:
            self._waiting.popleft()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        """The time of the oldest has come, if it still waits."""
        self._timer = None
        now = self._clock.time()
        late = []
        while self._waiting and (self._waiting[0].answered or self._waiting[0].due <= now):
            asked = self._waiting.popleft()
            if not asked.answered:
                asked.given_up = True
                late.append(asked)
        if self._waiting:
            self._timer = self._clock.call_at(self._waiting[0].due, self._ring)
        if late:
            self._late(late)
