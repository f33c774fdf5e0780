"""What waits is given up at its own moment, once, and never after it was answered."""

from __future__ import annotations

from dataclasses import dataclass

from harness.clock import VirtualClock
from latchway.ledger.deadlines import Deadlines


@dataclass(eq=False)
class Asked:
    name: str
    due: float
    answered: bool = False
    given_up: bool = False


class Bench:
    """`late`: the names of what was given up, a list for each call, with the moment."""

    def __init__(self) -> None:
        self.clock = VirtualClock(0.0)
        self.late: list[tuple[float, list[str]]] = []
        self.deadlines: Deadlines[Asked] = Deadlines(self.clock, self._late)

    def _late(self, asked: list[Asked]) -> None:
        assert all(each.given_up for each in asked)
        self.late.append((self.clock.time(), [each.name for each in asked]))

    def ask(self, name: str, seconds: float = 2.0) -> Asked:
        asked = Asked(name, self.clock.time() + seconds)
        self.deadlines.add(asked)
        return asked


def test_each_is_given_up_at_its_own_moment_and_together_if_it_is_one() -> None:
    bench = Bench()
    bench.ask("a")
    bench.ask("b")
    bench.clock.advance(1.0)
    bench.ask("c")
    bench.clock.advance(10.0)
    assert bench.late == [(2.0, ["a", "b"]), (3.0, ["c"])]


def test_what_was_answered_is_not_given_up() -> None:
    bench = Bench()
    first, second = bench.ask("a"), bench.ask("b")
    second.answered = True
    bench.deadlines.forget_answered()
    assert list(bench.deadlines) == [first]
    bench.clock.advance(10.0)
    assert bench.late == [(2.0, ["a"])]
    assert not second.given_up
    assert list(bench.deadlines) == []


def test_one_timer_for_all_and_none_for_nobody() -> None:
    bench = Bench()
    asked = [bench.ask(name) for name in "abc"]
    assert bench.clock.pending == 1
    for each in asked:
        each.answered = True
    bench.deadlines.forget_answered()
    bench.clock.advance(10.0)
    assert (bench.late, bench.clock.pending) == ([], 0)


def test_stopped_it_gives_up_nothing_more() -> None:
    bench = Bench()
    bench.deadlines.stop()
    bench.ask("a")
    bench.deadlines.stop()
    bench.clock.advance(10.0)
    assert bench.late == []
