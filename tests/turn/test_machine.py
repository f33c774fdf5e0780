"""The table of steps is true and tight, and no turn that can be breaks a promise (law 2)."""

from __future__ import annotations

from functools import cache
from typing import get_args

import pytest

from latchway.turn import events as on
from latchway.turn.events import Binding, Event
from latchway.turn.machine import CALLED, STEPS, State, Turn
from turn import deep
from turn.explore import Step, World, explore
from turn.made import TEXT, Played, calling, http, place, websocket

WORLDS = {
    "http": World(http()),
    "websocket": World(websocket()),
    "stored": World(http(), binding=Binding.STORED, idle_timeout_seconds=5.0),
    "no room": World(http(), room=False),
}

ROUTES = frozenset({on.RouteChosen, on.NoRoute, on.RouteFault})
LEDGER = frozenset({on.Reserved, on.Denied, on.LedgerFailed, on.ReplayRecorded, on.Closed})
UPSTREAM = frozenset(get_args(on.UpstreamEvent))
EVERY = frozenset(get_args(Event))
LATER = frozenset({on.Begin, on.Reserved, on.Denied}) | ROUTES
"""What cannot come while an attempt is in flight, nor what the ledger has not been asked."""

IMPOSSIBLE: dict[State, frozenset[type[Event]]] = {
    State.NEW: EVERY - {on.Begin},
    State.CHOOSING: LEDGER | UPSTREAM | {on.Begin},
    State.RESERVING: ROUTES | UPSTREAM | {on.Begin, on.ReplayRecorded, on.Closed},
    **dict.fromkeys(CALLED - {State.RECORDING}, LATER | LEDGER),
    State.CHOOSING_AGAIN: LEDGER | {on.Begin},
    State.RECORDING: LATER | {on.Closed},
    State.CLOSING: LATER | {on.ReplayRecorded},
    State.ENDED: frozenset(),
}
"""Nobody can tell these there: an answer to what was not asked."""


@cache
def steps(world: str) -> frozenset[Step]:
    return frozenset(explore(WORLDS[world]))


@pytest.mark.parametrize("world", WORLDS)
def test_no_turn_that_can_be_breaks_a_promise(world: str) -> None:
    assert {state for state, _, _ in steps(world)} <= set(State)


@pytest.mark.parametrize("world", deep.WORLDS)
def test_nor_does_one_whose_moments_are_told_apart_to_the_last_value(world: str) -> None:
    assert deep.deepen(world, 5).moments > 100


@pytest.mark.parametrize("state", State)
def test_every_event_has_a_row_or_cannot_come(state: State) -> None:
    assert set(STEPS[state]) == EVERY - IMPOSSIBLE[state]


def test_the_table_lists_what_happens_and_nothing_else() -> None:
    taken: dict[tuple[State, type[Event]], set[State]] = {}
    for world in WORLDS:
        for state, event, after in steps(world):
            taken.setdefault((state, event), set()).add(after)
    listed = {
        (state, event): set(leads_to)
        for state, row in STEPS.items()
        for event, (_, leads_to) in row.items()
        if state is not State.ENDED
    }
    assert {key: after for key, after in taken.items() if key[0] is not State.ENDED} == listed


@pytest.mark.parametrize("world", ["stored", "no room"])
def test_what_may_not_be_replayed_never_is(world: str) -> None:
    assert State.CHOOSING_AGAIN not in {after for _, _, after in steps(world)}


def test_a_step_that_the_table_does_not_list_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second guard, were the rule ever to say yes after output."""
    played = calling()
    played.arrive(TEXT)
    monkeypatch.setattr(Turn, "failed", lambda *_, **__: _jump(played))
    with pytest.raises(AssertionError, match="CHOOSING_AGAIN"):
        played.tell(on.Broke(1, "reset"))


def _jump(played: Played) -> None:
    played.turn.state = State.CHOOSING_AGAIN


def test_an_attempt_that_was_left_is_not_heard() -> None:
    played = calling()
    played.tell(on.Broke(1, "reset"), on.RouteChosen(place("b")), on.ReplayRecorded())
    assert played.arrive(TEXT, attempt=1) == []
    assert played.turn.state is State.CALLING


def test_an_attempt_that_was_not_opened_is_not_heard() -> None:
    played = Played()
    played.tell(on.Begin(), on.RouteChosen(place()))
    assert played.arrive(TEXT) == []
    assert played.turn.state is State.RESERVING


@pytest.mark.parametrize("state", [state for state in State if state not in CALLED])
def test_nothing_is_timed_unless_something_was_called(state: State) -> None:
    played = calling()
    played.turn.state = state
    assert played.turn.due() is None


@pytest.mark.parametrize("seconds", [0.25, 1.0])
@pytest.mark.parametrize("clock", ["first_event_timeout_seconds", "idle_timeout_seconds"])
def test_no_clock_is_shorter_than_the_shortest(clock: str, seconds: float) -> None:
    assert calling(http(keepalive_seconds=0.0), **{clock: seconds}).turn.shortest() == seconds


@pytest.mark.parametrize("seconds", [0.25, 1.0])
def test_a_comment_may_be_due_before_all_else(seconds: float) -> None:
    assert calling(http(keepalive_seconds=seconds)).turn.shortest() == seconds
