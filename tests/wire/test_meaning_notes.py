"""What an event says of the response, its usage and its failure (R1.3, R2, R6)."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from latchway.wire.frame import Frame, Note, Usage
from latchway.wire.meaning import KINDS, frame

USAGE = {"input_tokens": 13, "output_tokens": 7, "total_tokens": 20}
ERROR = {"type": "server_error", "code": "slow_down", "message": "x", "param": None}


def read(value: Any, name: str = "") -> Frame:
    return frame(json.dumps(value).encode(), b"the block", name.encode())


def note_of(value: Any, name: str = "") -> Note:
    note = read(value, name).note
    assert note is not None
    return note


def test_what_is_noted_of_a_response() -> None:
    response = {"id": "r", "created_at": 17, "model": "m", "status": "completed", "usage": USAGE}
    assert note_of({"type": "response.completed", "response": response}) == Note(
        response_id="r",
        created_at=17.0,
        model="m",
        status="completed",
        metered=True,
        usage=Usage(13, 7),
    )


WRONG = {"id": 7, "created_at": "now", "model": None, "status": ["x"], "usage": None, "error": 1}


@pytest.mark.parametrize("response", [None, "r", [], 3, {}, WRONG, {"created_at": True, "id": ""}])
@pytest.mark.parametrize("said", KINDS)
def test_values_of_the_wrong_type_are_missing(said: str, response: Any) -> None:
    assert note_of({"type": said, "response": response}) == Note()


@pytest.mark.parametrize("value", [-1, 10**400, "7", True, None, [], float("nan")])
def test_a_number_that_cannot_be_is_missing(value: Any) -> None:
    event = {"type": "error", "error": {}, "retry_after": value, "response": {"created_at": value}}
    note = note_of(event)
    assert (note.retry_after, note.created_at) == (None, None)


@pytest.mark.parametrize("said", [*KINDS, "response.output_text.delta", "never.heard.of"])
@pytest.mark.parametrize("top", [True, False])
def test_usage_counts_in_every_event_at_either_place(said: str, top: bool) -> None:
    holder = {"usage": USAGE}
    value = {"type": said, **(holder if top else {"response": holder})}
    assert read(value).metered
    assert note_of(value).usage == Usage(13, 7)


def test_the_usage_of_the_response_is_billed_before_that_of_the_event() -> None:
    other = {"input_tokens": 1, "output_tokens": 1}
    event = {"type": "response.completed", "usage": other, "response": {"usage": USAGE}}
    assert note_of(event).usage == Usage(13, 7)


def test_usage_that_cannot_be_true_is_noted() -> None:
    note = note_of({"type": "response.completed", "response": {"usage": {"input_tokens": -1}}})
    assert (note.metered, note.usage, note.usage_absurd) == (True, None, True)
    event = frame(b'{"type":"ping","usage":{"input_tokens":NaN,"output_tokens":0}}', b"")
    assert event.note == Note(metered=True, usage_absurd=True)


ITEMS = [{"type": "message", "content": []}]


@pytest.mark.parametrize("said", ["response.in_progress", "response.failed", "error", "ping"])
@pytest.mark.parametrize(
    ("output", "holds"),
    [(ITEMS, True), ([{}], True), ([[]], True), ([None], True), ([], False), (None, False),
     ("text", False), ({"0": "x"}, False)],
)  # fmt: skip
def test_output_in_an_event_that_is_none_itself_is_noted(
    said: str, output: Any, holds: bool
) -> None:
    assert note_of({"type": said, "response": {"output": output}}).output is holds


def test_output_is_noted_whatever_else_cannot_be_read() -> None:
    spaced = b'{"type":"response.failed","response":{"output":[ \n ],"x":%b}}'
    assert frame(spaced % b"NaN", b"").note == frame(spaced % b"0", b"").note == Note()
    lenient = frame(b'{"type":"response.failed","response":{"output":[NaN]}}', b"")
    assert lenient.note == Note(output=True)


def test_the_output_of_a_result_is_left_unread() -> None:
    note = note_of({"type": "response.completed", "response": {"output": ITEMS}})
    assert not note.output


def test_output_without_usage_has_no_note() -> None:
    assert read({"type": "x", "response": {"usage": None}}).note is None
    assert read({"type": "x", "usage": {}, "error": {"code": "c"}}).note is None


# ---- errors

ERRORS = {
    "nested": ({"type": "error", "error": ERROR}, ERROR),
    "in a response": ({"type": "response.failed", "response": {"error": ERROR}}, ERROR),
    "beside the response": (
        {"type": "response.failed", "response": {"error": None}, "error": ERROR},
        ERROR,
    ),
    "of the newer kind": ({"type": "response.error", "error": ERROR}, ERROR),
    "flat": (
        {"type": "error", "code": "slow_down", "message": "x", "param": None, "event_id": 1},
        {"code": "slow_down", "message": "x"},
    ),
    "nested, its code at the top": (
        {"type": "error", "code": "slow_down", "error": {"message": "x"}},
        {"message": "x"},
    ),
}


@pytest.mark.parametrize(("event", "error"), ERRORS.values(), ids=ERRORS)
def test_where_an_error_stands(event: Any, error: Any) -> None:
    note = note_of(event)
    assert (note.code, note.error) == ("slow_down", error)


CODES = [(429, "429"), ("", None), (None, None), (True, None), (4.5, None), ({}, None)]


@pytest.mark.parametrize(("code", "read_as"), CODES)
def test_a_code_is_a_name_or_its_digits(code: Any, read_as: str | None) -> None:
    assert note_of({"type": "error", "error": {"code": code}}).code == read_as
    assert note_of({"type": "error", "code": code}).code == read_as


MARKS = [
    ({"error": {"retryable": True}}, True),
    ({"retryable": False}, False),
    ({"error": {"code": "c"}, "retryable": True}, True),
    ({"error": {"retryable": False}, "retryable": True}, False),
    ({"error": {"retryable": "yes"}, "retryable": True}, True),
    ({"error": {"retryable": 1}}, None),
    ({"response": {"error": {"retryable": True}}}, True),
]


@pytest.mark.parametrize(("event", "mark"), MARKS)
def test_a_mark_stands_at_either_level_and_the_inner_one_wins(event: Any, mark: Any) -> None:
    assert note_of({"type": "response.failed", **event}).retryable is mark


@pytest.mark.parametrize("event", [{"error": {"retry_after": 2}}, {"retry_after": 2.0}])
def test_when_to_retry_stands_at_either_level(event: Any) -> None:
    assert note_of({"type": "error", **event}).retry_after == 2.0


def test_at_once_is_a_time_to_retry() -> None:
    assert note_of({"type": "error", "error": {"retry_after": 0}}).retry_after == 0.0


@pytest.mark.parametrize("kind", ["response.completed", "response.created", "ping"])
def test_only_a_failure_has_an_error(kind: str) -> None:
    event = {"type": kind, "error": ERROR, "code": "c", "retryable": True, "retry_after": 1}
    assert note_of(event) == Note()


WHOLE = '{"type":"response.completed","response":{"output":[{"content":[{"text":"héllo"}]}]%s}}'


@pytest.mark.parametrize(
    ("usage", "text_bytes"),
    [("", 6), (',"usage":null', 6), (',"usage":{"input_tokens":1,"output_tokens":2}', 0)],
)
def test_the_text_of_a_result_counts_where_nobody_metered_it(usage: str, text_bytes: int) -> None:
    assert frame((WHOLE % usage).encode(), b"").text_bytes == text_bytes


def test_usage_of_zero_in_an_output_event_is_noted_and_meters_nothing() -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    note = note_of({"type": "response.output_text.delta", "delta": "x", "usage": nothing})
    assert (note.usage, note.metered) == (Usage(0, 0), False)


def test_the_largest_number_is_a_number() -> None:
    most = sys.float_info.max
    assert note_of({"type": "error", "error": {"retry_after": most}}).retry_after == most
