"""Replays in flight stay below their share of the active turns, or their minimum (R10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.routes.budget import Budget
from latchway.settings import ReplaySettings


def budget(turns: int, replays: int, max_share: float, least: int) -> Budget:
    made = Budget(ReplaySettings(max_share=max_share, min=least))
    for _ in range(turns):
        made.turn_began()
    for _ in range(replays):
        made.replay_began()
    return made


@pytest.mark.parametrize(
    ("turns", "replays", "max_share", "least", "room"),
    [
        (1, 0, 1.0, 3, True),
        (100, 19, 0.2, 3, True),
        (100, 20, 0.2, 3, False),
        (5, 2, 0.2, 3, True),
        (5, 3, 0.2, 3, False),
        (5, 0, 0.0, 0, False),
        (1, 0, 0.5, 0, True),
    ],
)
def test_both_sides_of_the_bound(
    turns: int, replays: int, max_share: float, least: int, room: bool
) -> None:
    assert budget(turns, replays, max_share, least).room is room


def test_a_turn_that_ends_makes_room_only_if_it_was_replayed() -> None:
    full = budget(10, 3, 0.0, 3)
    full.turn_ended(replayed=False)
    assert not full.room
    full.turn_ended(replayed=True)
    assert full.room


def test_a_turn_that_had_not_begun_cannot_end() -> None:
    with pytest.raises(AssertionError):
        budget(0, 0, 1.0, 3).turn_ended(replayed=False)


def test_a_replay_is_one_of_the_active_turns() -> None:
    with pytest.raises(AssertionError):
        budget(1, 2, 1.0, 3)


STEPS = st.lists(st.sampled_from(["turn", "replay", "end"]), max_size=80)


@given(STEPS, st.floats(0, 1), st.integers(0, 5))
def test_replays_that_ask_for_room_stay_within_it(
    steps: list[str], max_share: float, least: int
) -> None:
    made = budget(0, 0, max_share, least)
    for step in steps:
        if step == "turn":
            made.turn_began()
        elif step == "replay" and made.replays < made.turns and made.room:
            assert made.replays < max(least, max_share * made.turns)
            made.replay_began()
        elif step == "end" and made.turns:
            made.turn_ended(replayed=made.replays > 0)
        assert 0 <= made.replays <= made.turns


@given(STEPS)
def test_a_share_of_one_is_no_bound(steps: list[str]) -> None:
    """A turn that asks is active and not yet replayed, so there is always room."""
    made = budget(0, 0, 1.0, 0)
    for step in steps:
        if step == "turn":
            made.turn_began()
        elif step == "replay" and made.replays < made.turns:
            assert made.room
            made.replay_began()
