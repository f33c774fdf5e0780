"""The table of errors, and their shape on each wire (docs/errors.md)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from latchway.wire.errors import (
    RETRY_AFTER_MAX_S,
    TABLE,
    RequestFault,
    Retry,
    error_object,
    error_type,
    http_body,
    sse_failure,
    status_of,
    ws_failure,
)

MEMBERS = ["message", "type", "param", "code", "retryable", "retry_after"]
WAIT_IN_WORDS = re.compile(r"(?i)try again in\s*(\d+(?:\.\d+)?)\s*(s|ms|seconds?)")
"""How one client finds out for how long to wait."""

DOCUMENTED = """
invalid_api_key 401 no
insufficient_balance 402 no
budget_exceeded 429 no
model_not_found 404 no
response_not_found 404 no
not_found 404 no
method_not_allowed 405 no
unsupported_media_type 415 no
previous_response_not_found 400 no
conversation_not_found 400 no
invalid_json 400 no
invalid_request 400 no
unsupported_parameter 400 no
websocket_connection_limit_reached 400 no
request_too_large 413 no
rate_limit_exceeded 429 yes
stream_read_error 502 by rule (b)
upstream_stream_buffer_limit 502 no
upstream_error None by rule (b)
first_event_timeout 504 no
stream_idle_timeout 504 no
upstream_auth_error 502 no
websocket_response_failed 500 by rule (b)
response_failed 500 by rule (b)
no_route_available 503 yes
ledger_unavailable 503 if not called
shutting_down 503 if not called
internal_error 500 no
"""


def blocks_of(stream: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, by a reader that knows no more than the format."""
    assert stream.endswith(b"\n\n")
    events = []
    for block in stream.decode("ascii").removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


def test_the_table_is_the_documented_one() -> None:
    rows = [f"{code} {row.status} {row.retry.value}" for code, row in TABLE.items()]
    assert rows == DOCUMENTED.split("\n")[1:-1]


@pytest.mark.parametrize("code", TABLE)
def test_every_code_has_the_six_members_and_a_whole_sentence(code: str) -> None:
    error = error_object(code)
    assert list(error) == MEMBERS
    assert error["code"] == code
    assert error["message"][0].isupper()
    assert error["message"].endswith(".")


@pytest.mark.parametrize("retryable", [True, False])
@pytest.mark.parametrize("code", TABLE)
def test_a_flat_row_wins_over_the_callers_judgement(code: str, retryable: bool) -> None:
    flat = {Retry.YES: True, Retry.NO: False}
    wanted = flat.get(TABLE[code].retry, retryable)
    assert error_object(code, retryable=retryable)["retryable"] is wanted


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (404, "invalid_request_error"),
        (429, "rate_limit_error"),
        (499, "invalid_request_error"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_the_type_follows_the_status(status: int, kind: str) -> None:
    assert error_type(status) == kind


@pytest.mark.parametrize(
    ("code", "status"),
    [("rate_limit_exceeded", 429), ("server_is_overloaded", 500), ("upstream_error", 500),
     (None, 500)],
)  # fmt: skip
def test_a_status_for_every_code(code: str | None, status: int) -> None:
    assert status_of(code) == status


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, None),
        (0, 0),
        (7.0, 7),
        (1.5, 1.5),
        (3600, RETRY_AFTER_MAX_S),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_a_wait_is_one_that_clients_accept(given: float | None, said: float | None) -> None:
    assert error_object("no_route_available", retry_after=given)["retry_after"] == said


@pytest.mark.parametrize(
    ("message", "wait", "seconds"),
    [(None, None, "1"), (None, 5, "5"), ("The queue is full.", 2, "2"),
     ("Please try again in 9 s.", 2, "9")],
)  # fmt: skip
def test_a_rate_limit_says_its_wait_in_words(
    message: str | None, wait: float | None, seconds: str
) -> None:
    error = error_object("rate_limit_exceeded", message, retry_after=wait)
    found = WAIT_IN_WORDS.search(error["message"])
    assert found is not None
    assert found[1] == seconds
    assert error["retry_after"] == (wait or 1)


def test_a_code_without_a_row_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        error_object("no_such_code")


def test_over_http_it_is_a_json_body() -> None:
    error = error_object("invalid_request", "`model` is missing.", "model")
    assert json.loads(http_body(error, "req_1")) == {"error": error, "request_id": "req_1"}


def test_a_client_without_a_response_id_gets_an_error_event_alone() -> None:
    error = error_object("stream_read_error", retryable=True)
    assert blocks_of(sse_failure(error, "req_1", 0)) == [
        ("error", {"type": "error", "sequence_number": 0, "error": error, "request_id": "req_1"})
    ]


def test_a_client_with_a_response_id_also_gets_response_failed_for_it() -> None:
    error = error_object("first_event_timeout")
    (_, told), (name, failed) = blocks_of(
        sse_failure(error, "req_1", 4, "resp_1", 1763474589.0, "gpt-5.6-terra")
    )
    assert (told["sequence_number"], name, failed["sequence_number"]) == (4, "response.failed", 5)
    response = failed["response"]
    assert failed["type"] == "response.failed"
    assert response["id"] == "resp_1"
    assert response["status"] == "failed"
    assert response["error"] == {"code": "first_event_timeout", "message": error["message"]}
    assert response["created_at"] == 1763474589
    assert isinstance(response["created_at"], int)
    assert response["output"] == []
    assert response["usage"] is None


REQUIRED = {
    "id", "created_at", "error", "incomplete_details", "instructions", "metadata", "model",
    "object", "output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p",
}  # fmt: skip
"""What the official SDKs' Response type does not mark as optional."""


def test_response_failed_has_what_the_official_clients_require() -> None:
    error = error_object("stream_read_error")
    response = blocks_of(sse_failure(error, "req_1", 1, "resp_1"))[1][1]["response"]
    assert response.keys() >= REQUIRED
    assert (response["created_at"], response["model"]) == (0, "")
    whole = blocks_of(sse_failure(error, "req_1", 1, "resp_1", float("inf")))[1][1]["response"]
    assert whole["created_at"] == 0


@pytest.mark.parametrize("text", ["a\n\nevent: x\ndata: {}\n\n", "\u2028\u2029\x85\r", "\ud800"])
def test_no_text_can_break_the_framing(text: str) -> None:
    error = error_object("stream_read_error", text, text)
    ((_, told),) = blocks_of(sse_failure(error, text, 0))
    assert (told["error"]["message"], told["request_id"]) == (text, text)
    assert http_body(error, text).isascii()
    assert ws_failure(error, 502, text, text).isascii()


def test_over_a_websocket_it_is_one_frame_with_a_status() -> None:
    error = error_object("unsupported_parameter", param="stream_id")
    frame = {"type": "error", "status": 400, "error": error, "request_id": "req_1"}
    assert json.loads(ws_failure(error, 400, "req_1")) == frame
    assert json.loads(ws_failure(error, 400, "req_1", "agent_1")) == {
        **frame,
        "stream_id": "agent_1",
    }


def test_what_is_not_said_to_be_retryable_is_not() -> None:
    assert error_object("stream_read_error")["retryable"] is False


def test_a_refusal_says_why() -> None:
    assert (
        str(RequestFault("invalid_request", "input: a text or a list."))
        == "input: a text or a list."
    )
