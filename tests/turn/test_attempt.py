"""One attempt: its clocks, and what has arrived from it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from latchway.turn import events as on
from latchway.turn import failures, limits
from latchway.turn.attempt import Attempt
from latchway.turn.decide import Verdict
from latchway.wire.frame import Frame, Kind, Usage
from latchway.wire.marks import OfKept, mark
from turn.made import (
    COMPLETED,
    CREATED,
    ERROR,
    METERED,
    OVERLOADED,
    PING,
    TEN_FIVE,
    TEXT,
    frame,
    place,
)

ZERO = Usage(0, 0)


def attempt(**differs: Any) -> Attempt:
    """Begun at 100, with clocks that cannot be mistaken for each other."""
    where = place(
        connect_timeout_seconds=1.0, first_event_timeout_seconds=20.0, idle_timeout_seconds=300.0
    )
    made = Attempt(1, where, 100.0, hold_bytes=100)
    for name, value in differs.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("facts", "due"),
    [
        ({}, 101.0),
        ({"connected": 100.5}, 400.5),
        ({"connected": 100.5, "sent": 102.0}, 122.0),
        ({"connected": 100.5, "sent": 102.0, "heard": 110.0}, 122.0),
        ({"connected": 100.5, "sent": 102.0, "http_status": 200}, 122.0),
        ({"connected": 100.5, "sent": 102.0, "http_status": 503}, None),
        ({"connected": 100.5, "sent": 102.0, "http_status": 302}, None),
        ({"connected": 100.5, "sent": 102.0, "paused": True}, 122.0),
        ({"connected": 100.5, "sent": 102.0, "first_event": 103.0, "heard": 110.0}, 410.0),
        ({"first_event": 103.0, "heard": 110.0}, 410.0),
        ({"connected": 100.5, "first_event": 103.0, "heard": 110.0, "paused": True}, None),
    ],
    ids=["connecting", "writing", "waiting", "comments do not feed it", "a head neither",
         "a refusal's body has its own bound", "a redirect's too", "a slow client neither",
         "idle", "an answer proves a connection", "a slow client stops it"],
)  # fmt: skip
def test_which_clock_runs(facts: dict[str, Any], due: float | None) -> None:
    assert attempt(**facts).clock(streamed=True, whole_answer_seconds=600.0) == due


@pytest.mark.parametrize(
    ("facts", "due"),
    [({}, 101.0), ({"connected": 100.5}, 700.5), ({"connected": 100.5, "sent": 102.0}, 702.0)],
)
def test_a_whole_answer_has_one_clock(facts: dict[str, Any], due: float) -> None:
    assert attempt(**facts).clock(streamed=False, whole_answer_seconds=600.0) == due


@pytest.mark.parametrize(
    ("heard", "observed"),
    [
        (CREATED, False),
        (PING, False),
        (OVERLOADED, False),
        (ERROR, False),
        (frame(Kind.LIFECYCLE, usage=ZERO), False),
        (TEXT, True),
        (frame(Kind.OUTPUT, usage=ZERO), True),
        (COMPLETED, True),
        (frame(Kind.COMPLETED, status="completed"), True),
        (frame(Kind.INCOMPLETE, status="incomplete"), True),
        (METERED, True),
        (frame(Kind.LIFECYCLE, metered=True, usage=TEN_FIVE), True),
        (frame(Kind.NEUTRAL, metered=True), True),
        (frame(Kind.LIFECYCLE, output=True), True),
        (frame(Kind.FAILED, output=True), True),
        (frame(Kind.FAILED, metered=True, usage_absurd=True), True),
    ],
)
def test_what_proves_that_the_upstream_has_worked(heard: Frame, observed: bool) -> None:
    one, other = attempt(), attempt()
    one.hear(heard, 101.0)
    other.observe([PING, heard])
    assert (one.observed, other.observed) == (observed, observed)


@pytest.mark.parametrize(("heard", "first"), [(PING, None), (CREATED, 101.0), (ERROR, 101.0)])
def test_a_neutral_event_is_not_the_first(heard: Frame, first: float | None) -> None:
    made = attempt()
    made.hear(heard, 101.0)
    assert made.first_event == first
    made.hear(CREATED, 102.0)
    assert made.first_event == (first or 102.0)


@pytest.mark.parametrize(
    ("frames", "usage"),
    [
        ([frame(Kind.LIFECYCLE, usage=ZERO)], None),
        ([frame(Kind.OUTPUT, usage=ZERO)], None),
        ([frame(Kind.LIFECYCLE, metered=True, usage=Usage(10, 0))], Usage(10, 0)),
        ([frame(Kind.COMPLETED, usage=ZERO)], ZERO),
        ([frame(Kind.FAILED, usage=ZERO)], ZERO),
        ([frame(Kind.LIFECYCLE, metered=True, usage=Usage(10, 0)), COMPLETED], TEN_FIVE),
        ([COMPLETED, frame(Kind.COMPLETED, usage_absurd=True, metered=True)], TEN_FIVE),
    ],
    ids=["zeros at the start", "zeros on the way", "counted at the start", "a result of zero",
         "a failure of zero", "the last wins", "absurd is missing"],
)  # fmt: skip
def test_the_usage_that_arrived(frames: list[Frame], usage: Usage | None) -> None:
    made = attempt()
    for each in frames:
        made.hear(each, 101.0)
    assert made.usage == usage


def test_usage_in_the_wait_behind_an_error_counts_unless_there_was_some() -> None:
    bare, own = attempt(), attempt()
    bare.hear(ERROR, 101.0)
    own.hear(frame(Kind.ERROR, metered=True, usage=Usage(1, 1)), 101.0)
    for made in (bare, own):
        made.second(COMPLETED)
    assert (bare.usage, own.usage) == (TEN_FIVE, Usage(1, 1))


def test_usage_behind_the_last_event_is_on_no_bill() -> None:
    made = attempt()
    made.hear(OVERLOADED, 101.0)
    made.observe([TEXT, COMPLETED])
    assert (made.observed, made.usage) == (True, None)


def test_what_the_response_is_called() -> None:
    made = attempt()
    made.hear(CREATED, 101.0)
    made.hear(frame(Kind.LIFECYCLE, status="in_progress"), 102.0)
    assert (made.response_id, made.created_at, made.model) == ("resp_1", 7.0, "m")


def test_what_was_made_is_kept_once_and_not_without_end() -> None:
    made = attempt()
    made.hear(msgspec.structs.replace(TEXT, made=(b"1", b"2")), 101.0)
    made.hear(msgspec.structs.replace(COMPLETED, made=(b"2", b"3")), 102.0)
    assert list(made.made) == [b"1", b"2", b"3"]
    many = tuple(bytes([n >> 8, n & 255]) for n in range(limits.MARKS))
    for end in (b"x", b"y"):
        made.hear(msgspec.structs.replace(TEXT, made=(*many, end)), 103.0)
    assert b"x" in made.made
    assert b"y" not in made.made


def test_its_response_is_one_of_the_things_that_it_made() -> None:
    made = attempt()
    assert made.marks(kept=True) == ()
    made.hear(msgspec.structs.replace(TEXT, made=(b"1",)), 101.0)
    assert made.marks(kept=True) == (b"1",)
    made.hear(CREATED, 102.0)
    assert made.marks(kept=True) == (mark("resp_1"), b"1")


def test_what_is_sent_back_whole_is_known_again_where_it_is_kept() -> None:
    made = attempt()
    made.hear(msgspec.structs.replace(TEXT, made=(OfKept(b"1"), b"2")), 101.0)
    assert made.marks(kept=True) == (b"1", b"2")
    assert made.marks(kept=False) == (b"2",)
    assert {type(each) for each in made.marks(kept=True)} == {bytes}, "nobody else knows of it"


def test_marks_are_kept_up_to_their_limit() -> None:
    made = attempt()
    many = tuple(bytes([n >> 8, n & 255]) for n in range(limits.MARKS))
    for marks in (many, (b"x",)):
        made.hear(msgspec.structs.replace(TEXT, made=marks), 101.0)
    assert tuple(made.made) == many


def test_delta_text_is_summed() -> None:
    made = attempt()
    for _ in range(3):
        made.hear(TEXT, 101.0)
    assert made.output_bytes == 12
    assert made.hear_plain([TEXT, TEXT])
    assert made.output_bytes == 20
    assert not made.hear_plain([TEXT, COMPLETED])
    assert made.output_bytes == 20


def test_the_record_of_a_failure() -> None:
    made = attempt()
    made.headed(on.Headed(1, 200, "up_1"))
    made.hear(CREATED, 101.0)
    record = made.record(
        outcome="failed",
        now=102.0,
        failure=failures.RETRYABLE_EVENT,
        code="server_error",
        verdict=Verdict.NO_ROUTE,
    )
    assert (record.own_rule, record.rule, record.verdict) == ("R2.1", "R2.11", "no_route")
    assert (record.http_status, record.upstream_request_id) == (200, "up_1")
    assert (record.began, record.first_event, record.ended) == (100.0, 101.0, 102.0)


def test_the_record_of_a_result_has_no_failure() -> None:
    record = attempt().record(outcome="completed", now=102.0)
    assert (record.failure, record.own_rule, record.rule, record.verdict) == (None,) * 4


def test_a_result_repeats_the_text_of_its_deltas() -> None:
    made = attempt()
    made.hear(Frame(Kind.OUTPUT, b"", b"", 7), 101.0)
    made.hear(Frame(Kind.COMPLETED, b"", b"", 5, COMPLETED.note), 102.0)
    assert made.output_bytes == 7
    made.hear(Frame(Kind.COMPLETED, b"", b"", 9, COMPLETED.note), 102.0)
    assert made.output_bytes == 9


@pytest.mark.parametrize(
    ("status", "refused"),
    [(None, False), (199, True), (200, False), (299, False), (300, True), (503, True)],
)
def test_every_status_but_a_success_is_a_refusal(status: int | None, refused: bool) -> None:
    assert attempt(http_status=status).refused is refused
