"""Who made what, durably, each owner's own, and not for ever."""

from __future__ import annotations

import sqlite3

import pytest

from latchway.ledger import made
from latchway.ledger.database import make_tables
from latchway.wire.marks import mark

A, B, C = mark("resp_a"), mark("rs_b"), mark("conv_c")


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    made.put(connection, "alice", "a/m", [A, B], 1000)
    return connection


def test_it_is_found_by_its_owner_alone(connection: sqlite3.Connection) -> None:
    assert made.find(connection, "alice", [A], 0) == "a/m"
    assert made.find(connection, "bob", [A], 0) is None
    assert made.find(connection, "alice", [C], 0) is None
    assert made.find(connection, "alice", [], 0) is None


def test_the_last_that_is_known_counts(connection: sqlite3.Connection) -> None:
    made.put(connection, "alice", "b/m", [C], 1000)
    assert made.find(connection, "alice", [A, C], 0) == "b/m"
    assert made.find(connection, "alice", [C, A], 0) == "a/m"
    assert made.find(connection, "alice", [A, mark("unknown")], 0) == "a/m"


def test_what_two_owners_have_is_each_ones_own(connection: sqlite3.Connection) -> None:
    made.put(connection, "bob", "b/m", [A], 1000)
    assert made.find(connection, "alice", [A], 0) == "a/m"
    assert made.find(connection, "bob", [A], 0) == "b/m"


def test_it_expires_and_what_is_made_again_is_new(connection: sqlite3.Connection) -> None:
    made.put(connection, "alice", "b/m", [A], 2000)
    assert made.find(connection, "alice", [B], 999) == "a/m"
    assert made.find(connection, "alice", [B], 1000) is None
    assert made.find(connection, "alice", [A], 1000) == "b/m"


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("behind", [0, made.MARKS_AT_ONCE, 3 * made.MARKS_AT_ONCE + 1])
def test_none_hides_behind_the_others(
    connection: sqlite3.Connection, before: int, behind: int
) -> None:
    own = [mark(str(n)) for n in range(before + behind)]
    many = [*own[:before], A, *own[before:]]
    assert made.find(connection, "alice", many, 0) == "a/m"
    assert made.is_anothers(connection, "bob", many, 0)
    made.put(connection, "alice", "b/m", own, 1000)
    assert made.find(connection, "alice", many, 0) == ("b/m" if behind else "a/m")
    made.put(connection, "bob", "b/m", own, 1000)
    assert made.is_anothers(connection, "bob", many, 0)


def test_the_oldest_are_deleted_a_step_at_a_time(connection: sqlite3.Connection) -> None:
    made.put(connection, "alice", "a/m", [mark(str(n)) for n in range(made.PRUNED_AT_ONCE)], 1500)
    made.put(connection, "alice", "a/m", [A], 2000)
    assert made.prune(connection, 1800)
    assert not made.prune(connection, 1800)
    assert connection.execute("SELECT mark FROM made").fetchall() == [(A,)]


def test_what_another_has_alone_is_anothers(connection: sqlite3.Connection) -> None:
    assert made.is_anothers(connection, "bob", [C, A], 0)
    assert not made.is_anothers(connection, "alice", [A, B], 0)
    assert not made.is_anothers(connection, "bob", [C], 0)
    assert not made.is_anothers(connection, "bob", [], 0)
    made.put(connection, "bob", "b/m", [A], 1000)
    assert not made.is_anothers(connection, "bob", [A], 0)
    assert not made.is_anothers(connection, "alice", [A], 0)
    assert made.is_anothers(connection, "bob", [A, B], 0)


def test_what_another_had_is_nobodys(connection: sqlite3.Connection) -> None:
    assert not made.is_anothers(connection, "bob", [A], 1000)
    made.put(connection, "bob", "b/m", [A], 500)
    assert made.is_anothers(connection, "bob", [A], 999), "its own has expired"


def test_what_is_said_again_stays_whose_it_was(connection: sqlite3.Connection) -> None:
    made.put(connection, "bob", "b/m", [A, C], 2000, repeated=True)
    assert made.find(connection, "bob", [A], 0) is None
    assert made.find(connection, "bob", [C], 0) == "b/m"
    made.put(connection, "alice", "c/m", [A], 3000, repeated=True)
    assert made.find(connection, "alice", [A], 2999) == "c/m", "its own, said again, is new again"
    made.put(connection, "bob", "b/m", [A], 3000)
    made.put(connection, "bob", "c/m", [A], 4000, repeated=True)
    assert made.find(connection, "bob", [A], 3999) == "c/m", "what both have is each one's own"
