"""How many turns a key may leave for free."""

from __future__ import annotations

import pytest

from latchway.serve.aborts import WINDOW_SECONDS, FreeAborts


@pytest.mark.parametrize("most", [1, 3])
def test_the_wait_ends_when_the_oldest_is_a_minute_ago(most: int) -> None:
    aborts = FreeAborts(most)
    for number in range(most):
        assert aborts.wait("alice", float(number)) is None
        aborts.note("alice", float(number))

    assert aborts.wait("alice", 10.0) == WINDOW_SECONDS - 10.0
    assert aborts.wait("alice", WINDOW_SECONDS - 0.5) == 0.5
    assert aborts.wait("alice", WINDOW_SECONDS) is None


def test_keys_do_not_wait_for_each_other() -> None:
    aborts = FreeAborts(1)
    aborts.note("alice", 0.0)
    assert aborts.wait("bob", 0.0) is None


def test_with_none_for_free_each_one_costs_a_minute() -> None:
    aborts = FreeAborts(0)
    assert aborts.wait("alice", 0.0) is None
    aborts.note("alice", 0.0)
    assert aborts.wait("alice", 1.0) == WINDOW_SECONDS - 1.0


def test_turns_that_ran_side_by_side_count_from_the_last() -> None:
    aborts = FreeAborts(2)
    for now in (0.0, 10.0, 20.0, 30.0):
        aborts.note("alice", now)
    assert aborts.wait("alice", 30.0) == WINDOW_SECONDS - 10.0
