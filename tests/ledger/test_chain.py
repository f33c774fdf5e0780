"""An entry's hash covers every field of it and all entries before it (I-B13)."""

from __future__ import annotations

import pytest

from latchway.ledger.chain import MOVES, Tail, follow

FIRST = ("alice", None, "grant", 100, 7)
OTHERS = [
    ("bob", None, "grant", 100, 7),
    ("alice", "req_1", "grant", 100, 7),
    ("alice", None, "loss", 100, 7),
    ("alice", None, "grant", 101, 7),
    ("alice", None, "grant", 100, 8),
]


@pytest.mark.parametrize("other", OTHERS)
def test_each_field_counts(other: tuple[str, str | None, str, int, int]) -> None:
    assert follow(Tail(), *other).hash != follow(Tail(), *FIRST).hash


def test_what_stands_before_counts() -> None:
    once = follow(Tail(), *FIRST)
    twice = follow(once, *FIRST)
    assert (once.number, twice.number) == (1, 2)
    assert once.hash != twice.hash


def test_a_turn_leaves_its_charge() -> None:
    tail = follow(Tail(), *FIRST)
    for kind, amount in (("reserve", 50), ("charge", 20), ("release", 30), ("loss", 9)):
        tail = follow(tail, "alice", "req_1", kind, amount, 7)
    assert tail[1:4] == (100, 20, 0)
    assert tail.available == 80


def test_an_adjustment_gives_back() -> None:
    tail = follow(Tail(1, 100, 20, 0), "alice", "req_1", "adjust", 20, 7)
    assert tail[1:4] == (100, 0, 0)


def test_every_kind_moves_something_known() -> None:
    assert set(MOVES) == {"grant", "reserve", "charge", "release", "adjust", "loss"}
