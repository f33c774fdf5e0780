"""Before the first call, and between the attempts: nothing is in flight (R1, R2.13, R6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import Basis
from latchway.turn.events import Binding, Event
from latchway.turn.machine import State
from turn.made import CREATED, OVERLOADED, TEXT, Played, calling, http, place, websocket


def begun() -> Played:
    played = Played()
    played.tell(on.Begin())
    return played


def reserving() -> Played:
    played = begun()
    played.tell(on.RouteChosen(place()))
    return played


def choosing_again() -> Played:
    played = calling()
    played.arrive(CREATED, OVERLOADED)
    return played


def recording() -> Played:
    played = choosing_again()
    played.tell(on.RouteChosen(place("b")))
    return played


def test_first_a_route_then_the_reservation_then_the_call() -> None:
    played = Played()
    assert played.tell(on.Begin()) == [do.SelectRoute(None)]
    assert played.tell(on.RouteChosen(place())) == [do.Reserve(place())]
    assert played.tell(on.Reserved()) == [do.Open(1, place())]


def test_without_a_route_nothing_is_reserved() -> None:
    played = begun()
    refused = on.NoRoute("previous_response_not_found", "previous_response_id", "Send it whole.")
    fail, finish = played.tell(refused)
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.param, fail.message) == (
        "previous_response_not_found", "previous_response_id", "Send it whole."
    )  # fmt: skip
    assert isinstance(finish, do.Finish)
    assert (finish.outcome, finish.code) == ("failed", "previous_response_not_found")
    assert (finish.binding, finish.attempts) == (None, ())


@pytest.mark.parametrize(
    ("event", "code", "needed", "again"),
    [
        (on.Denied(needed=7, available=3), "insufficient_balance", 7, None),
        (on.LedgerFailed(), "ledger_unavailable", None, 1.0),
    ],
)
def test_without_a_reservation_nothing_is_called(
    event: Event, code: str, needed: int | None, again: float | None
) -> None:
    played = reserving()
    fail, finish = played.tell(event)
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.needed, fail.retry_after) == (code, needed, again)
    assert isinstance(finish, do.Finish)
    assert (finish.code, finish.binding) == (code, Binding.STATELESS)
    assert not played.given(do.Open) + played.given(do.Close)


def test_a_fault_of_the_first_choice_is_the_gateways_own() -> None:
    fail, _ = begun().tell(on.RouteFault())
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.retryable) == ("internal_error", False)


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (reserving, on.Reserved()),
        (choosing_again, on.RouteChosen(place("b"))),
        (choosing_again, on.RouteFault()),
        (choosing_again, on.NoRoute()),
        (recording, on.ReplayRecorded()),
        (recording, on.LedgerFailed()),
    ],
    ids=["reserved", "chosen", "fault", "none", "recorded", "not recorded"],
)
def test_who_left_meanwhile_is_called_for_no_more(
    make: Callable[[], Played], answer: Event
) -> None:
    played = make()
    opened = len(played.given(do.Open))
    assert played.tell(on.ClientGone()) == []
    (close,) = played.tell(answer)
    assert isinstance(close, do.Close)
    assert close.basis is Basis.REFUND
    (finish,) = played.tell(on.Closed())
    assert isinstance(finish, do.Finish)
    assert (finish.outcome, finish.code) == ("client_disconnected", "client_disconnected")
    assert len(played.given(do.Open)) == opened


@pytest.mark.parametrize(
    ("make", "answer", "again"),
    [
        (reserving, on.Reserved(), True),
        (choosing_again, on.RouteChosen(place("b")), False),
        (choosing_again, on.RouteFault(), False),
        (recording, on.ReplayRecorded(), False),
        (recording, on.LedgerFailed(), False),
    ],
    ids=["reserved", "chosen", "fault", "recorded", "not recorded"],
)
def test_a_turn_that_was_stopped_meanwhile_ends(
    make: Callable[[], Played], answer: Event, again: bool
) -> None:
    """It may be sent again only if nothing was called."""
    played = make()
    assert played.tell(on.Stop("shutting_down"), on.Stop("internal_error")) == []
    (close,) = played.tell(answer)
    assert isinstance(close, do.Close)
    assert close.basis is Basis.REFUND
    fail, finish = played.tell(on.Closed())
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.retryable) == ("shutting_down", again)
    assert isinstance(finish, do.Finish)
    assert (finish.outcome, finish.code) == ("failed", "shutting_down")


@pytest.mark.parametrize("answer", [on.RouteFault(), on.NoRoute()])
@pytest.mark.parametrize(("kindred", "again"), [(False, True), (True, False)])
def test_the_choice_fails_after_the_decision(answer: Event, kindred: bool, again: bool) -> None:
    """R2.13: refunded, not replayed, attempt 1 keeps its verdict."""
    binding = Binding.ORIGIN_BOUND if kindred else Binding.STATELESS
    played = calling(websocket(), binding=binding, kindred=kindred)
    played.arrive(CREATED, OVERLOADED)
    played.tell(answer)
    fail, finish = played.tell(on.Closed())
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.retryable) == ("websocket_response_failed", again)
    assert fail.response_id is None
    assert isinstance(finish, do.Finish)
    assert (finish.replayed, [it.verdict for it in finish.attempts]) == (False, ["replay"])
    assert [close.basis for close in played.given(do.Close)] == [Basis.REFUND]


def test_the_replay_is_durable_before_it_is_called() -> None:
    played = choosing_again()
    assert played.given(do.Drop) == [do.Drop(1)]
    assert played.given(do.SelectRoute)[-1] == do.SelectRoute("a")
    assert played.tell(on.RouteChosen(place("b"))) == [do.RecordReplay(place("b"))]
    assert played.tell(on.ReplayRecorded()) == [do.Open(2, place("b"))]


def test_a_replay_that_is_not_durable_is_not_called() -> None:
    played = recording()
    played.tell(on.LedgerFailed())
    fail, _ = played.tell(on.Closed())
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.retryable) == ("ledger_unavailable", False)


def test_what_attempt_one_still_says_is_ignored() -> None:
    for played in (choosing_again(), recording()):
        state = played.turn.state
        assert played.arrive(TEXT) == []
        assert played.turn.state is state


def test_nothing_moves_an_ended_turn() -> None:
    played = begun()
    played.tell(on.NoRoute())
    for event in (on.Reserved(), on.Closed(), on.ClientGone(), on.Stop("x"), on.Tick()):
        assert played.tell(event) == []
    assert played.turn.state is State.ENDED


@pytest.mark.parametrize(
    ("make", "event", "again"),
    [
        (begun, on.NoRoute(), True),
        (begun, on.RouteFault(), False),
        (reserving, on.Denied(needed=7, available=3), False),
        (reserving, on.LedgerFailed(), True),
    ],
    ids=["no route", "a fault", "too little", "no ledger"],
)
def test_what_was_never_called_may_be_sent_again_unless_it_would_fail_again(
    make: Callable[[], Played], event: Event, again: bool
) -> None:
    fail, _ = make().tell(event)
    assert isinstance(fail, do.Fail)
    assert fail.retryable is again


def test_early_headers_go_out_however_often_comments_do() -> None:
    played = calling(http(keepalive_seconds=0.5))
    assert played.wait(10.0) == [do.SendHead(None)]


def test_a_turn_that_was_left_before_its_call_owes_nothing() -> None:
    played = reserving()
    played.tell(on.ClientGone())
    (close,) = played.tell(on.Reserved())
    assert close == do.Close(Basis.REFUND, None, None, 0, None, None)
