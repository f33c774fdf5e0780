"""An upstream's own error as an event or a frame: its words stand, clients get what they need."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.wire.carried import CARRIED_ERROR_BYTES, MESSAGE_CHARACTERS, carried, wrap_ws_error
from latchway.wire.frame import Answer, Frame, Kind, Note


def answer(status: int, error: dict[str, Any] | None, wait: float | None = None) -> Answer:
    return Answer(status, b"...", note=Note(error=error, retry_after=wait))


def event(data: dict[str, Any], **note: Any) -> Frame:
    text = json.dumps(data).encode()
    return Frame(Kind.ERROR, text, b"data: " + text + b"\n\n", note=Note(**note))


OWN = {"message": "slow down", "type": "requests", "param": None, "code": "slow_down"}


def test_an_upstreams_error_object_stands_and_is_completed() -> None:
    own = {**OWN, "hint": [1, {"a": "b"}]}
    assert carried(answer(503, own, 7.0), True) == (
        503,
        {**own, "retryable": True, "retry_after": 7},
    )


def test_our_word_on_retrying_replaces_the_upstreams() -> None:
    own = {**OWN, "retryable": True, "retry_after": 900}
    _, error = carried(answer(503, own, 900), False)
    assert (error["retryable"], error["retry_after"]) == (False, 60)


@pytest.mark.parametrize(
    ("code", "said"),
    [("slow_down", True), ("never_heard_of", True), (503, True), (None, True),
     ("model_not_found", False), ("invalid_request", False)],
)  # fmt: skip
def test_a_row_that_says_no_wins(code: Any, said: bool) -> None:
    _, error = carried(answer(503, {**OWN, "code": code}), True)
    assert error["code"] == code
    assert error["retryable"] is said


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "invalid_request_error"), (429, "rate_limit_error"),
                         (503, "server_error")]
)  # fmt: skip
def test_what_is_missing_is_filled(status: int, kind: str) -> None:
    for own in ({}, {"message": None, "type": None}, {"message": {"detail": 1}, "type": "error"}):
        told, error = carried(answer(status, own), False)
        assert told == status
        assert error == {
            "message": "The upstream reported an error without a message.",
            "type": kind,
            "param": None,
            "code": None,
            "retryable": False,
            "retry_after": None,
        }


@pytest.mark.parametrize("retryable", [True, False])
def test_without_an_error_object_it_is_upstream_error_with_its_status(retryable: bool) -> None:
    status, error = carried(answer(418, None, 3), retryable)
    assert status == 418
    assert (error["code"], error["type"]) == ("upstream_error", "invalid_request_error")
    assert (error["retryable"], error["retry_after"]) == (retryable, 3)


@pytest.mark.parametrize("status", [200, 302, 999])
def test_an_error_under_a_status_of_no_error_is_a_502(status: int) -> None:
    assert carried(answer(status, OWN), False)[0] == 502
    assert carried(answer(status, None), False)[1]["type"] == "server_error"


@pytest.mark.parametrize(
    "more", [{"n": float("nan")}, {"x": "x" * CARRIED_ERROR_BYTES}, {"deep": None}]
)
def test_what_cannot_be_carried_is_left_behind(more: dict[str, Any]) -> None:
    if "deep" in more:
        for _ in range(5_000):
            more = {"deep": more}
    _, error = carried(answer(500, {**OWN, "message": "m" * 9_999, **more}), False)
    assert error["message"] == "m" * MESSAGE_CHARACTERS
    assert error["code"] == "slow_down"
    assert set(error) == {"message", "type", "param", "code", "retryable", "retry_after"}
    json.dumps(error, allow_nan=False)


def test_a_frame_with_a_status_passes_unchanged() -> None:
    frame = event({"type": "error", "status": 429, "error": OWN}, error=OWN, code="slow_down")
    assert wrap_ws_error(frame, "req_1", True) is frame.data


@pytest.mark.parametrize("status", [True, "429", None, 4.5])
def test_a_status_that_is_no_whole_number_is_none(status: Any) -> None:
    frame = event({"type": "error", "status": status, "error": OWN}, error=OWN, code="slow_down")
    assert json.loads(wrap_ws_error(frame, "req_1", True))["status"] == 500


def test_a_nested_error_without_a_status_gets_one() -> None:
    own = {**OWN, "code": "rate_limit_exceeded"}
    data = {"type": "error", "sequence_number": 2, "error": own}
    frame = event(data, error=own, code="rate_limit_exceeded", retry_after=8)
    assert json.loads(wrap_ws_error(frame, "req_1", True)) == {
        "type": "error",
        "sequence_number": 2,
        "status": 429,
        "error": {**own, "retryable": True, "retry_after": 8},
        "request_id": "req_1",
    }


def test_a_flat_error_stands_nested() -> None:
    flat = {"type": "error", "code": "E", "message": "m", "param": None, "sequence_number": 1}
    frame = event(flat, error=flat, code="E")
    wrapped = json.loads(wrap_ws_error(frame, "req_1", False))
    assert wrapped["error"] == {
        "code": "E",
        "message": "m",
        "param": None,
        "type": "server_error",
        "retryable": False,
        "retry_after": None,
    }
    assert (wrapped["status"], wrapped["sequence_number"]) == (500, 1)


@pytest.mark.parametrize("data", [b"no json", b"[1]", b"[" * 100_000])
def test_an_error_that_cannot_be_read_is_told_all_the_same(data: bytes) -> None:
    wrapped = json.loads(wrap_ws_error(Frame(Kind.ERROR, data, data), "req_1", True))
    assert (wrapped["type"], wrapped["status"], wrapped["request_id"]) == ("error", 500, "req_1")
    assert wrapped["error"]["retryable"] is True


@pytest.mark.parametrize(
    ("status", "told"), [(399, 502), (400, 400), (599, 599), (600, 502)], ids=str
)
def test_a_status_that_is_no_error_becomes_a_bad_gateway(status: int, told: int) -> None:
    assert carried(answer(status, OWN), True)[0] == told


def test_members_of_the_event_do_not_stand_in_its_error() -> None:
    own = {**OWN, "sequence_number": 1, "stream_id": "lane"}
    assert set(carried(answer(503, own), True)[1]) == {*OWN, "retryable", "retry_after"}


def test_an_error_object_is_cut_to_its_four_members_beyond_its_bound_to_the_byte() -> None:
    own = {**OWN, "param": "input", "more": ""}
    room = CARRIED_ERROR_BYTES - len(json.dumps(own, separators=(",", ":")))
    for size, cut in ((room, False), (room + 1, True)):
        _, error = carried(answer(503, {**own, "more": "x" * size}), True)
        assert ("more" not in error) is cut
        assert (error["type"], error["param"]) == ("requests", "input")
