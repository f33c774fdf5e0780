"""HTTP answers that are no stream: errors, and whole results (R2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.wire.frame import Kind, Note, Usage
from latchway.wire.meaning import answer_note, whole_answer
from latchway.wire.sse import Parser

USAGE = {"input_tokens": 13, "output_tokens": 7, "total_tokens": 20}
ERROR = {"type": "server_error", "code": "slow_down", "message": "x", "param": None}


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def test_the_error_of_an_http_answer() -> None:
    note = answer_note(dump({"error": {**ERROR, "retry_after": 7}}))
    assert note == Note(code="slow_down", retry_after=7.0, error={**ERROR, "retry_after": 7})
    assert answer_note(b"\xef\xbb\xbf" + dump({"error": {"code": 400}})).code == "400"


def test_an_http_answer_whose_error_is_flat_has_a_code_and_no_error_object() -> None:
    note = answer_note(dump({"object": "error", "message": "x", "code": 400, "retryable": True}))
    assert note == Note(code="400", retryable=True)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"detail":"x"}', b'{"error":"busy"}', b'{"error":null}']
)
def test_an_http_answer_that_says_nothing_readable(body: bytes) -> None:
    assert answer_note(body) == Note()


def test_usage_in_an_http_error_counts() -> None:
    assert answer_note(dump({"error": ERROR, "usage": USAGE})).metered


def answer(status: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": status, "model": "m", **more}


STATUSES = {
    "completed": (Kind.COMPLETED, "response.completed"),
    "queued": (Kind.COMPLETED, "response.completed"),
    "in_progress": (Kind.COMPLETED, "response.completed"),
    "cancelled": (Kind.COMPLETED, "response.completed"),
    "incomplete": (Kind.INCOMPLETE, "response.incomplete"),
    "failed": (Kind.FAILED, "response.failed"),
}


@pytest.mark.parametrize("status", [*STATUSES, None, 3])
def test_a_whole_answer_is_one_result_by_its_status(status: Any) -> None:
    kind, said = STATUSES.get(status, STATUSES["completed"])
    body = dump(answer(status, usage=USAGE, error=ERROR))
    plain, event = whole_answer(body, streamed=False), whole_answer(body, streamed=True)
    assert plain is not None
    assert event is not None
    assert plain.kind is event.kind is kind
    assert plain.block == plain.data == body
    assert event.data == b'{"type":"%b","sequence_number":0,"response":%b}' % (said.encode(), body)
    assert event.block == b"event: %b\ndata: %b\n\n" % (said.encode(), event.data)
    assert plain.note == event.note
    assert plain.note is not None
    assert plain.note.usage == Usage(13, 7)
    assert plain.note.code == ("slow_down" if kind is Kind.FAILED else None)


@pytest.mark.parametrize("named", ["response", "response.compaction"])
def test_a_whole_answer_is_known_by_its_object(named: str) -> None:
    made = whole_answer(dump(answer("completed", object=named)), streamed=False)
    assert made is not None
    assert made.kind is Kind.COMPLETED


def test_the_event_made_from_a_body_reads_as_that_body() -> None:
    body = json.dumps(answer("failed", error=ERROR, usage=USAGE), indent=2).encode()
    made = whole_answer(b"\xef\xbb\xbf" + body.replace(b"\n", b"\r\n"), streamed=True)
    assert made is not None
    assert Parser(1 << 20).feed(made.block) == [made]
    assert json.loads(made.data)["response"] == json.loads(body)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b'{"error":{}}', b'{"object":"error"}', b'"response"']
)
def test_what_is_no_response_object_is_no_answer(body: bytes) -> None:
    assert whole_answer(body, streamed=True) is None
    assert whole_answer(body, streamed=False) is None


OUTPUT_ITEMS = [
    {"type": "message", "content": [{"type": "output_text", "text": "né"}, {"refusal": "no"}]},
    {"type": "function_call", "name": "f", "arguments": "{}"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}]},
    {"type": "custom_tool_call", "input": "go"},
    {"type": "x", "summary": "so"},
    {"type": "code_interpreter_call", "code": "1", "container_id": "c"},
    "odd",
]


def test_without_usage_the_text_of_a_whole_answer_is_counted() -> None:
    body = answer("completed", output=OUTPUT_ITEMS)
    for usage, text_bytes in ((None, 3 + 2 + 2 + 3 + 2 + 2 + 1), (USAGE, 0), ({"x": -1}, 15)):
        made = whole_answer(dump({**body, "usage": usage}), streamed=False)
        assert made is not None
        assert made.text_bytes == text_bytes


@pytest.mark.parametrize("output", [None, "text", {}, 3, [[]]])
def test_an_output_of_the_wrong_type_has_no_text(output: Any) -> None:
    made = whole_answer(dump(answer("completed", output=output)), streamed=False)
    assert made is not None
    assert made.text_bytes == 0
