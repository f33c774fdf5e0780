"""A link's hash covers every field of it and all links before it (I-B13)."""

from __future__ import annotations

import pytest

from latchway.ledger.chain import MOVES, Link, Tail, follow

FIRST = Link(None, "grant", 100, 7)
END = Link("req_1", "end", 100, 7, 40, 3)
ANOTHER = [
    FIRST._replace(request_id="req_1"),
    FIRST._replace(kind="adjust"),
    FIRST._replace(amount=101),
    FIRST._replace(at_ms=8),
    END._replace(charge=41),
    END._replace(loss=4),
]


@pytest.mark.parametrize("another", ANOTHER)
def test_each_field_counts(another: Link) -> None:
    first = END if another.kind == "end" else FIRST
    assert follow(Tail(), "alice", another).hash != follow(Tail(), "alice", first).hash


def test_the_key_counts() -> None:
    assert follow(Tail(), "bob", FIRST).hash != follow(Tail(), "alice", FIRST).hash


def test_what_stands_before_counts() -> None:
    once = follow(Tail(), "alice", FIRST)
    twice = follow(once, "alice", FIRST)
    assert (once.number, twice.number) == (1, 2)
    assert once.hash != twice.hash


def test_a_turn_leaves_its_charge() -> None:
    tail = follow(Tail(), "alice", FIRST)
    for link in (Link("req_1", "reserve", 50, 7), Link("req_1", "end", 50, 7, 20, 9)):
        tail = follow(tail, "alice", link)
    assert tail[1:4] == (100, 20, 0)
    assert tail.available == 80


def test_an_adjustment_gives_back() -> None:
    tail = follow(Tail(1, 100, 20, 0), "alice", Link("req_1", "adjust", 20, 7))
    assert tail[1:4] == (100, 0, 0)


def test_every_kind_moves_something_known() -> None:
    assert set(MOVES) == {"grant", "reserve", "end", "adjust"}
