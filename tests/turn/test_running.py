"""While an attempt is in flight: its clocks, the sorting of a read, pairs (R2, R4, R5)."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import AttemptRecord
from latchway.turn.machine import State, Terms
from latchway.wire.frame import Answer, Frame, Kind, Note, Usage
from turn.made import (
    COMPLETED,
    CREATED,
    ERROR,
    FINAL,
    METERED,
    OVERLOADED,
    PING,
    TEXT,
    Played,
    calling,
    frame,
    http,
    place,
    websocket,
)

QUIET = http(keepalive_seconds=0.0)


def last_record(played: Played) -> AttemptRecord:
    return played.turn.records[-1]


def told(played: Played) -> list[Frame]:
    """All that was delivered once the ledger has answered."""
    if played.turn.state is State.CLOSING:
        played.tell(on.Closed())
    return [each for command in played.given(do.Deliver) for each in command.frames]


def test_a_read_is_sorted_in_order() -> None:
    played = calling()
    first, *rest = played.arrive(PING, CREATED, TEXT, PING, COMPLETED)
    assert first == do.Deliver((PING, CREATED, TEXT, PING), "none")
    assert [type(command) for command in rest] == [do.Release, do.Close]


@pytest.mark.parametrize(
    ("before", "seconds", "rule", "failure"),
    [
        ([], 60.0, "R2.6", "first_event_timeout"),
        ([PING], 60.0, "R2.6", "first_event_timeout"),
        ([TEXT], 300.0, "R2.4", "idle_timeout"),
    ],
)
def test_silence(before: list[Frame], seconds: float, rule: str, failure: str) -> None:
    played = calling(QUIET)
    if before:
        played.arrive(*before)
    assert played.wait(seconds - 0.1) == []
    played.wait(0.1)
    assert (last_record(played).rule, last_record(played).failure) == (rule, failure)


def test_idle_before_the_holds_limit_ends_the_attempt_first() -> None:
    played = calling(QUIET, idle_timeout_seconds=5.0, hold_seconds=5.0)
    played.arrive(CREATED)
    played.wait(5.0)
    assert last_record(played).rule == "R2.15"
    assert told(played) == [CREATED]


def test_no_connection_in_time_is_a_read_error() -> None:
    played = Played(QUIET)
    played.tell(on.Begin(), on.RouteChosen(place()), on.Reserved())
    assert played.wait(9.9) == []
    assert do.SelectRoute("a") in played.wait(0.1)
    assert (last_record(played).rule, last_record(played).verdict) == ("R2.2", "replay")
    assert last_record(played).reason == "no connection in time"


def test_comments_and_events_feed_the_idle_clock() -> None:
    played = calling(QUIET)
    played.arrive(TEXT)
    for tell in (on.Commented(1), on.Arrived(1, (PING,)), on.Paused(), on.Resumed()):
        played.wait(200.0)
        played.tell(tell)
    assert played.turn.due() == played.now + 300.0


def test_a_slow_client_stops_the_idle_clock() -> None:
    played = calling(QUIET)
    played.arrive(TEXT)
    played.tell(on.Paused())
    assert played.turn.due() is None


@pytest.mark.parametrize(
    ("frames", "broke", "rule"),
    [
        ([], on.Broke(1, "reset"), "R2.2"),
        ([PING], on.Broke(1, "reset"), "R2.2"),
        ([CREATED], on.Broke(1, "reset"), "R2.12"),
        ([], on.Broke(1, "reset", begun=True), "R2.12"),
        ([TEXT], on.Broke(1, "reset"), "R2.4"),
    ],
)
def test_a_break_by_what_came_before(frames: list[Frame], broke: on.Broke, rule: str) -> None:
    played = calling()
    if frames:
        played.arrive(*frames)
    played.tell(broke)
    assert (last_record(played).rule, last_record(played).reason) == (rule, "reset")


def test_what_is_behind_an_overflow_in_its_read_has_arrived() -> None:
    played = calling()
    played.arrive(CREATED, frame(Kind.LIFECYCLE, size=91), TEXT)
    assert last_record(played).verdict == "usage_seen"
    assert told(played) == [CREATED]


def test_all_that_is_behind_an_overflow_has_arrived() -> None:
    played = calling()
    played.arrive(frame(Kind.LIFECYCLE, size=101), TEXT, PING)
    assert last_record(played).verdict == "usage_seen"


def test_an_answer_that_says_zero_has_said_it() -> None:
    played = calling()
    nothing = Usage(input_tokens=0, output_tokens=0)
    played.tell(on.Answered(1, Answer(400, note=Note(usage=nothing))))
    assert last_record(played).usage == nothing


def test_neutral_events_pass_the_bound_too() -> None:
    played = calling()
    for _ in range(10):
        played.arrive(PING)
    played.arrive(PING)
    assert last_record(played).failure == "buffer_overflow"


# ---- pairs


@pytest.mark.parametrize(
    ("terms", "then", "delivered"),
    [
        (http(), [on.Arrived(1, (FINAL,))], [CREATED, ERROR, FINAL]),
        (websocket(), [on.Arrived(1, (FINAL,))], [CREATED, FINAL]),
        (http(), [on.Arrived(1, (PING, FINAL))], [CREATED, ERROR, PING, FINAL]),
        (websocket(), [on.Arrived(1, (PING, FINAL))], [CREATED, PING, FINAL]),
        (http(), [on.Arrived(1, (PING,)), on.Broke(1, "reset")], [CREATED, ERROR]),
        (websocket(), [on.Arrived(1, (PING,)), on.Broke(1, "reset")], [CREATED, ERROR]),
        (http(), [on.Arrived(1, (CREATED, FINAL))], [CREATED, ERROR]),
        (http(), [on.Arrived(1, (ERROR,))], [CREATED, ERROR]),
        (http(), [on.Oversized(1)], [CREATED, ERROR]),
    ],
    ids=["both", "the second alone", "neutral between", "neutral, the second alone",
         "neutral behind", "neutral behind, alone", "another event", "another error", "too large"],
)  # fmt: skip
def test_what_is_delivered_of_a_pair(terms: Terms, then: list[Any], delivered: list[Frame]) -> None:
    played = calling(terms, another=False)
    played.arrive(CREATED, ERROR)
    played.tell(*then)
    assert told(played) == delivered


def test_after_output_the_error_goes_out_at_once_over_http() -> None:
    played = calling()
    played.arrive(TEXT)
    assert played.arrive(ERROR) == [do.Deliver((ERROR,), "none")]
    played.arrive(FINAL)
    assert told(played) == [TEXT, ERROR, FINAL]


def test_the_wait_for_the_second_lasts_a_second() -> None:
    played = calling(QUIET)
    played.arrive(CREATED, ERROR)
    assert played.turn.due() == played.now + 1.0
    assert played.wait(0.9) == []
    assert do.SelectRoute("a") in played.wait(0.1)


def test_neutral_events_in_the_wait_are_bounded() -> None:
    played = calling()
    played.arrive(CREATED, ERROR)
    assert played.arrive(*[PING] * 9) == []
    assert do.SelectRoute("a") in played.arrive(PING)


@pytest.mark.parametrize(
    ("pair", "verdict", "code"),
    [
        ([ERROR, OVERLOADED], "replay", "server_error"),
        ([ERROR, frame(Kind.FAILED)], "replay", "server_error"),
        ([ERROR, FINAL], "failure_final", "invalid_prompt"),
        ([frame(Kind.ERROR, code="invalid_prompt"), OVERLOADED], "failure_final", "invalid_prompt"),
        ([frame(Kind.ERROR), OVERLOADED], "failure_final", "server_is_overloaded"),
        ([frame(Kind.ERROR), frame(Kind.FAILED)], "failure_final", "upstream_error"),
        ([ERROR, METERED], "usage_seen", "server_error"),
        ([ERROR, TEXT], "usage_seen", "server_error"),
        ([ERROR, FINAL, TEXT], "usage_seen", "invalid_prompt"),
        ([ERROR, FINAL, TEXT, PING], "usage_seen", "invalid_prompt"),
    ],
)
def test_a_pair_is_final_if_either_is(pair: list[Frame], verdict: str, code: str) -> None:
    """In one read, or in as many as there are events."""
    whole, parts = calling(), calling()
    whole.arrive(*pair)
    for each in pair[:2]:
        parts.arrive(each)
    assert (last_record(whole).verdict, last_record(whole).code) == (verdict, code)
    if len(pair) == 2:
        assert (last_record(parts).verdict, last_record(parts).code) == (verdict, code)


def test_an_error_with_a_status_ends_the_wait() -> None:
    played = calling()
    played.arrive(CREATED, ERROR)
    played.tell(on.Answered(1, Answer(429)))
    assert last_record(played).code == "server_error"


def test_who_leaves_at_an_error_did_not_cause_it() -> None:
    played = calling()
    played.arrive(TEXT, ERROR)
    played.tell(on.ClientGone())
    assert (last_record(played).failure, last_record(played).verdict) == (
        "retryable_event", "client_gone"
    )  # fmt: skip
    assert played.given(do.Close)[0].basis is do.Basis.FORGIVEN


@pytest.mark.parametrize(
    ("terms", "code"), [(http(), "server_error"), (websocket(), "shutting_down")]
)
def test_a_stop_gives_no_second_error(terms: Terms, code: str) -> None:
    played = calling(terms)
    played.arrive(TEXT, ERROR)
    played.tell(on.Stop("shutting_down"), on.Closed())
    assert [finish.code for finish in played.given(do.Finish)] == [code]
    assert len(played.given(do.Fail)) == (1 if code == "shutting_down" else 0)
