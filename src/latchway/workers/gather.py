"""Asking several workers at once: told when all have answered, are gone, or have had their time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import count
from typing import Generic, TypeVar

from latchway.ports import Clock, Timer

Who = TypeVar("Who", bound=Hashable)


class _Round(Generic[Who]):
    def __init__(self, waits_for: set[Who], done: Callable[[set[Who]], None]) -> None:
        self.waits_for, self.done = waits_for, done
        self.timer: Timer | None = None


class Gather(Generic[Who]):
    """Questions of which some are open at the same time, each with its number."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = count(1)
        self._open: dict[int, _Round[Who]] = {}

    def ask(
        self,
        whom: Iterable[Who],
        say: Callable[[Who, int], None],
        seconds: float,
        done: Callable[[set[Who]], None],
    ) -> None:
        """`say` asks one of them. `done` is told once, of those who did not answer in time; at once
        if there is nobody to ask."""
        number, round_ = next(self._numbers), _Round(set(whom), done)
        for who in round_.waits_for:
            say(who, number)
        self._open[number] = round_
        at = self._clock.time() + seconds
        round_.timer = self._clock.call_at(at, lambda: self._end(number))
        self._look(number)

    def answered(self, who: Who, number: int) -> None:
        """What comes too late is of no account."""
        if number in self._open:
            self._open[number].waits_for.discard(who)
            self._look(number)

    def gone(self, who: Who) -> None:
        """It will answer nothing more; it is not missed."""
        for number in list(self._open):
            self.answered(who, number)

    def _look(self, number: int) -> None:
        if not self._open[number].waits_for:
            self._end(number)

    def _end(self, number: int) -> None:
        round_ = self._open.pop(number)
        if round_.timer is not None:
            round_.timer.cancel()
        round_.done(round_.waits_for)
