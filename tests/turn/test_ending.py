"""How attempts and turns end: the verdict, the words, the bill, the record (R2, R5, R6, R7)."""

from __future__ import annotations

import pytest

from latchway.turn import commands as do
from latchway.turn import ending, failures
from latchway.turn import events as on
from latchway.turn.commands import Basis, Delivered
from latchway.turn.decide import Situation, Verdict
from latchway.turn.events import Binding
from latchway.values import replace
from latchway.wire.frame import Answer, Frame, Kind, Note
from latchway.wire.marks import OfKept, mark
from turn.made import (
    COMPLETED,
    CREATED,
    ERROR,
    FINAL,
    LIMITED,
    METERED,
    OVERLOADED,
    PING,
    TEN_FIVE,
    TEXT,
    Played,
    calling,
    frame,
    http,
    replaying,
    websocket,
)


def finish(played: Played) -> do.Finish:
    (only,) = played.given(do.Finish)
    assert isinstance(only, do.Finish)
    return only


def bases(played: Played) -> list[Basis]:
    return [close.basis for close in played.given(do.Close)]


# ---- the verdict


def test_a_place_of_which_nothing_is_said_has_no_kin() -> None:
    played = calling(binding=Binding.ORIGIN_BOUND)
    played.arrive(OVERLOADED)
    assert played.turn.records[0].verdict == "origin_bound"


def test_the_rule_is_asked_once_at_each_abnormal_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Situation] = []

    def decide(situation: Situation) -> Verdict:
        asked.append(situation)
        return Verdict.REPLAY if len(asked) == 1 else Verdict.ALREADY_REPLAYED

    monkeypatch.setattr(ending, "decide", decide)
    played = replaying(binding=Binding.STORED)
    played.arrive(CREATED, METERED, attempt=2)
    played.tell(on.Closed())
    first, second = asked
    assert (first.attempt, first.binding, first.observed) == (1, Binding.STORED, False)
    assert (second.attempt, second.client_here, second.observed) == (2, True, True)


def test_the_situation_is_what_is_known() -> None:
    played = calling(http(acting_tools=True), room=False, another=False, kindred=True)
    played.arrive(CREATED)
    situation = played.turn._situation(failures.IDLE_TIMEOUT)
    assert situation == Situation(
        client_here=True,
        delivered=Delivered.NOTHING,
        binding=Binding.STATELESS,
        kindred=True,
        attempt=1,
        observed=False,
        failure=failures.IDLE_TIMEOUT,
        acting_tools=True,
        replay_room=False,
        another_route=False,
    )


@pytest.mark.parametrize(
    ("phase", "frames"),
    [("before_first_event", []), ("before_output", [CREATED]), ("after_output", [CREATED, TEXT])],
)
def test_the_phase_of_a_failure(phase: str, frames: list[Frame]) -> None:
    played = calling(another=False)
    if frames:
        played.arrive(*frames)
    played.tell(on.Broke(1, "reset"), on.Closed())
    assert finish(played).phase == phase


@pytest.mark.parametrize(
    ("binding", "another", "again"),
    [
        (Binding.STATELESS, False, True),
        (Binding.STORED, False, False),
        (Binding.ORIGIN_BOUND, False, False),
    ],
)
def test_when_it_is_safe_to_send_it_again(binding: Binding, another: bool, again: bool) -> None:
    played = calling(binding=binding, another=another)
    played.tell(on.Broke(1, "reset"), on.Closed())
    assert [fail.retryable for fail in played.given(do.Fail)] == [again]


# ---- the words


def test_a_failure_is_told_only_once_the_ledger_has_closed() -> None:
    played = calling(another=False)
    drop, close = played.arrive(CREATED, OVERLOADED)
    assert (drop, type(close)) == (do.Drop(1), do.Close)
    assert played.turn.delivered is Delivered.NOTHING
    deliver, _ = played.tell(on.Closed())
    assert deliver == do.Deliver((CREATED, OVERLOADED), "refused; reason=no_route", True)


@pytest.mark.parametrize(
    ("held", "early", "answer", "kind"),
    [
        ([], False, LIMITED, do.PassAnswer),
        ([PING], False, LIMITED, do.PassAnswer),
        ([CREATED], False, LIMITED, do.Fail),
        ([], True, LIMITED, do.Fail),
        ([], False, Answer(200, note=Note(code="server_error")), do.Fail),
    ],
    ids=["open", "neutral is dropped", "held", "headers are out", "a 200 with an error"],
)
def test_an_upstreams_answer_is_passed_on_or_carried_over(
    held: list[Frame], early: bool, answer: Answer, kind: type[do.Command]
) -> None:
    played = calling(another=False)
    if early:
        played.wait(10.0)
    if held:
        played.arrive(*held)
    played.tell(on.Answered(1, answer))
    *_, words, _ = played.tell(on.Closed())
    assert type(words) is kind
    assert getattr(words, "answer", None) is answer
    if isinstance(words, do.Fail):
        assert words.retry_after == answer.note.retry_after


@pytest.mark.parametrize(
    ("status", "code"), [(401, "upstream_auth_error"), (302, "stream_read_error")]
)
def test_what_an_upstream_says_of_its_route_is_not_passed_on(status: int, code: str) -> None:
    played = calling(another=False)
    played.tell(on.Answered(1, Answer(status, note=Note(code="secret"))), on.Closed())
    assert [(fail.code, fail.answer) for fail in played.given(do.Fail)] == [(code, None)]


def test_words_of_our_own_name_the_response_that_the_client_knows() -> None:
    played = calling()
    played.arrive(CREATED, TEXT)
    played.tell(on.Broke(1, "reset"), on.Closed())
    (fail,) = played.given(do.Fail)
    assert (fail.response_id, fail.created_at, fail.model) == ("resp_1", 7.0, "m")


def test_neutral_events_are_dropped_for_a_status_and_kept_on_a_websocket() -> None:
    for terms, delivered in ((http(), 0), (websocket(), 1)):
        played = calling(terms, another=False)
        played.arrive(PING)
        played.tell(on.Broke(1, "reset"), on.Closed())
        assert len(played.given(do.Deliver)) == delivered


def test_nothing_is_told_to_nobody() -> None:
    played = calling()
    played.arrive(CREATED, FINAL)
    played.tell(on.ClientGone(), on.Closed())
    assert not played.given(do.Deliver)
    assert finish(played).outcome == "client_disconnected"
    assert finish(played).delivered is Delivered.NOTHING


# ---- the bill


def test_a_result_is_settled_before_it_is_told() -> None:
    played = calling()
    release, close = played.arrive(CREATED, COMPLETED)
    assert release == do.Release(1)
    made = (mark("resp_1"),)
    assert close == do.Close(Basis.USAGE, 1, TEN_FIVE, 0, "resp_1", "a", made=made)
    deliver, _ = played.tell(on.Closed())
    assert deliver == do.Deliver((CREATED, COMPLETED), "none")
    assert (finish(played).outcome, finish(played).code) == ("completed", None)


@pytest.mark.parametrize(
    "last",
    [frame(Kind.INCOMPLETE), frame(Kind.COMPLETED, status="incomplete")],
    ids=["event", "whole answer"],
)
def test_a_result_that_was_cut_short(last: Frame) -> None:
    played = calling()
    played.arrive(last)
    played.tell(on.Closed())
    assert finish(played).outcome == finish(played).attempts[0].outcome == "incomplete"
    assert bases(played) == [Basis.ESTIMATE]


def test_attempt_one_is_the_operators_own_cost() -> None:
    played = replaying()
    played.arrive(COMPLETED, attempt=2)
    (close,) = played.given(do.Close)
    assert (close.attempt, [it.number for it in close.unbilled]) == (2, [1])


@pytest.mark.parametrize("binding", Binding)
def test_what_only_a_keeper_knows_again_is_remembered_of_keepers(binding: Binding) -> None:
    played, item = calling(binding=binding), OfKept(b"item")
    played.arrive(CREATED, replace(TEXT, made=(item,)), COMPLETED)
    (close,) = played.given(do.Close)
    keeps = binding in (Binding.STORED, Binding.CONTINUATION)
    assert (item in close.made) is keeps


def test_an_id_that_the_client_knows_is_remembered_also_of_a_failure() -> None:
    known, unknown = calling(), calling()
    known.arrive(CREATED, TEXT)
    unknown.arrive(CREATED)
    for played in (known, unknown):
        played.tell(on.ClientGone())
    assert [c.response_id for c in known.given(do.Close)] == ["resp_1"]
    assert [c.response_id for c in unknown.given(do.Close)] == [None]


@pytest.mark.parametrize("before", [[CREATED], [CREATED, TEXT]], ids=["held", "after output"])
def test_a_result_that_cannot_be_recorded_is_not_told(before: list[Frame]) -> None:
    played = calling()
    played.arrive(*before, COMPLETED)
    played.tell(on.LedgerFailed(), on.Closed())
    assert bases(played) == [Basis.USAGE, Basis.REFUND]
    assert [it.number for it in played.given(do.Close)[1].unbilled] == [1]
    assert [fail.code for fail in played.given(do.Fail)] == ["ledger_unavailable"]
    assert COMPLETED not in [f for d in played.given(do.Deliver) for f in d.frames]
    assert finish(played).attempts[0].failure == "gateway_stopped"


def test_a_charge_that_cannot_be_made_is_refunded_and_the_failure_told() -> None:
    played = calling()
    played.arrive(TEXT, METERED)
    played.tell(on.LedgerFailed(), on.LedgerFailed())
    assert bases(played) == [Basis.USAGE, Basis.REFUND]
    assert played.given(do.Deliver)[-1].frames == (METERED,)


def test_a_fault_at_the_refund_is_told_instead() -> None:
    played = calling()
    played.arrive(CREATED, FINAL)
    deliver, fail, _ = played.tell(on.LedgerFailed("internal_error"))
    assert isinstance(deliver, do.Deliver)
    assert deliver.frames == (CREATED,)
    assert isinstance(fail, do.Fail)
    assert (fail.code, fail.response_id) == ("internal_error", "resp_1")
    assert finish(played).code == "internal_error"


def test_a_fault_at_the_refund_gives_no_second_error() -> None:
    played = calling()
    played.arrive(TEXT, ERROR)
    played.tell(on.Broke(1, "reset"))
    assert [type(it) for it in played.tell(on.LedgerFailed("internal_error"))] == [do.Finish]


def test_a_fault_at_the_refund_of_who_left_is_nobodys() -> None:
    played = Played()
    played.tell(on.Begin(), on.RouteChosen(calling().turn.live.place), on.ClientGone())
    played.tell(on.Reserved(), on.LedgerFailed())
    assert finish(played).outcome == "client_disconnected"
    assert not played.given(do.Fail)


# ---- the record


def test_the_record_of_a_turn() -> None:
    played = replaying()
    played.now += 1.5
    played.arrive(CREATED, attempt=2)
    played.now += 0.5
    played.arrive(TEXT, COMPLETED, attempt=2)
    played.tell(on.Closed())
    record = finish(played)
    assert [it.number for it in record.attempts] == [1, 2]
    assert (record.replayed, record.response_id) == (True, "resp_1")
    assert (record.began, record.first_output, record.ended) == (100.0, 102.0, 102.0)
    assert (record.held_seconds, record.released_by_timer, record.phase) == (0.5, False, None)
