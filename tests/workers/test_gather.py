"""Told once: when all have answered, when the rest is gone, or when their time is over."""

from __future__ import annotations

from harness.clock import VirtualClock
from latchway.workers.gather import Gather


class Bench:
    """`asked`: who, with which number. `missing`: of each round that has ended, and when."""

    def __init__(self) -> None:
        self.clock = VirtualClock(0.0)
        self.gather: Gather[str] = Gather(self.clock)
        self.asked: list[tuple[str, int]] = []
        self.missing: list[tuple[float, set[str]]] = []

    def ask(self, whom: str) -> int:
        """The number of the question."""
        self.gather.ask(
            whom,
            lambda who, number: self.asked.append((who, number)),
            1.0,
            lambda missing: self.missing.append((self.clock.time(), missing)),
        )
        return self.asked[-1][1] if self.asked else 0


def test_all_answer() -> None:
    bench = Bench()
    number = bench.ask("abc")
    assert sorted(bench.asked) == [(who, number) for who in "abc"]
    for who in "abc":
        assert bench.missing == []
        bench.gather.answered(who, number)
    assert bench.missing == [(0.0, set())]
    bench.clock.advance(5.0)
    bench.gather.answered("a", number)
    assert bench.missing == [(0.0, set())]
    assert bench.clock.pending == 0


def test_who_is_late_is_named() -> None:
    bench = Bench()
    number = bench.ask("abc")
    bench.gather.answered("b", number)
    bench.clock.advance(5.0)
    assert bench.missing == [(1.0, {"a", "c"})]


def test_who_is_gone_is_not_missed() -> None:
    bench = Bench()
    first, second = bench.ask("ab"), bench.ask("bc")
    assert first != second
    bench.gather.answered("a", first)
    bench.gather.gone("b")
    assert bench.missing == [(0.0, set())], "of the first question"
    bench.clock.advance(5.0)
    assert bench.missing[1:] == [(1.0, {"c"})]


def test_nobody_to_ask() -> None:
    bench = Bench()
    bench.ask("")
    assert bench.missing == [(0.0, set())]
