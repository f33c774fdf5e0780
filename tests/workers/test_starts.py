"""A mishap is mended at once, a frenzy is slowed down, and what cannot start is given up."""

from __future__ import annotations

from latchway.workers.starts import FAILED_MOST, Starts


def test_all_may_die_of_one_mishap_and_are_replaced_at_once() -> None:
    starts = Starts(3, now=0.0)
    assert [starts.again(9.0, served=True) for _ in range(3)] == [0.0] * 3


def test_beyond_that_one_a_second() -> None:
    starts = Starts(2, now=0.0)
    assert [starts.again(0.0, served=True) for _ in range(5)] == [0.0, 0.0, 1.0, 2.0, 3.0]
    assert starts.again(3.5, served=True) == 0.5
    assert starts.again(60.0, served=True) == 0.0


def test_those_that_never_serve_are_given_up() -> None:
    starts = Starts(2, now=0.0)
    waits = [starts.again(0.0, served=False) for _ in range(FAILED_MOST)]
    assert None not in waits[:-1]
    assert waits[-1] is None


def test_one_that_serves_gives_the_others_another_chance() -> None:
    starts = Starts(2, now=0.0)
    for _ in range(3):
        waits = [starts.again(0.0, served=False) for _ in range(FAILED_MOST - 1)]
        assert None not in waits
        starts.served()
    assert starts.again(0.0, served=True) is not None
