"""Chance for the fuzzer: one number makes one input, the same on every machine.

Everything that is left to chance is drawn from here, so that a seed is a whole test case.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")


class Dice:
    """Random choices from a seed. `pick` and `below` are called most, and are kept short."""

    __slots__ = ("_next", "_random")

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._next = self._random.random

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        return int(self._next() * bound)

    def chance(self, share: float) -> bool:
        return self._next() < share

    def pick(self, things: Sequence[Thing]) -> Thing:
        return things[int(self._next() * len(things))]

    def some(self, things: Sequence[Thing], most: int) -> list[Thing]:
        """0 to `most` picks, in any order, repeats included."""
        return [self.pick(things) for _ in range(self.below(most + 1))]

    def few(self) -> int:
        """A small number, mostly 0 to 3, seldom up to 30."""
        return self.below(4) if self._next() < 0.9 else self.below(31)

    def junk(self, most: int) -> bytes:
        return self._random.randbytes(self.below(most + 1))
