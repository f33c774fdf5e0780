"""What answers mean, without a socket: readers chosen by the head, events made from the body."""

from __future__ import annotations

import pytest

from latchway.turn.events import Answered, Arrived, Broke, Oversized, UpstreamEvent
from latchway.upstreams.answers import EventStream, Reader, Refusal, Unreadable, Whole, reader_for
from latchway.upstreams.http1 import Head
from latchway.upstreams.limits import Limits
from upstreams.said import COMPLETED, CREATED, DELTA, ERROR, JSON_ERROR, RESULT, STREAM, event
from upstreams.scripted import told

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def reader(
    status: int = 200, fields: dict[str, str] = JSON, streamed: bool = True, limit: int = 1000
) -> Reader:
    return reader_for(
        Head(status, fields), attempt=1, streamed=streamed, event_bytes=limit,
        limits=Limits(answer_bytes=limit), scrub=lambda text: text.replace(b"sk-1", b"***"),
    )  # fmt: skip


def lines(reader: Reader, *reads: bytes, torn: str | None = None) -> list[str]:
    events: list[UpstreamEvent] = [*reader.begin()]
    for data in reads:
        events += reader.feed(data)
    events += reader.end(torn)
    return [line for event in events for line in told(event)]


@pytest.mark.parametrize(
    ("status", "fields", "streamed", "kind"),
    [
        (200, SSE, True, EventStream),
        (200, {"content-type": "TEXT/event-stream ; charset=utf-8"}, True, EventStream),
        (201, SSE, True, EventStream),
        (200, SSE, False, Unreadable),
        (200, {**SSE, "content-encoding": "br"}, True, Unreadable),
        (200, JSON, True, Whole),
        (200, {}, True, Whole),
        (200, JSON, False, Whole),
        (200, {**JSON, "content-encoding": "gzip"}, False, Unreadable),
        (199, SSE, True, Refusal),
        (300, SSE, True, Refusal),
        (401, JSON, False, Refusal),
        (503, {**JSON, "content-encoding": "gzip"}, True, Refusal),
    ],
)
def test_the_head_chooses_the_reader(
    status: int, fields: dict[str, str], streamed: bool, kind: type[Reader]
) -> None:
    assert type(reader(status, fields, streamed)) is kind


@pytest.mark.parametrize("place", range(1, len(STREAM)))
def test_a_stream_may_be_split_anywhere(place: int) -> None:
    heard = lines(reader(fields=SSE), STREAM[:place], STREAM[place:])
    assert heard == ["response.created", "response.output_text.delta", "response.completed"]


@pytest.mark.parametrize(
    "result", [COMPLETED, event("response.incomplete"), event("response.failed")]
)
def test_no_later_read_is_told_behind_the_result(result: bytes) -> None:
    heard = lines(reader(fields=SSE), CREATED, result, DELTA, torn="a reset")
    assert heard == ["response.created", told_of(result)]


def test_what_arrived_with_a_failure_is_told_with_it() -> None:
    """Output or usage behind a failure in one read forbids its replay (R1.3)."""
    failed = event("response.failed")
    heard = lines(reader(fields=SSE), CREATED, failed + DELTA, DELTA, torn="a reset")
    assert heard == ["response.created", "response.failed", "response.output_text.delta"]


def told_of(block: bytes) -> str:
    return block.decode().partition("\n")[0].removeprefix("event: ")


def test_an_error_event_does_not_end_the_stream() -> None:
    failed = event("response.failed", response={"id": "resp_1"})
    assert lines(reader(fields=SSE), ERROR, failed) == ["error", "response.failed"]
    assert lines(reader(fields=SSE), ERROR, torn="a reset") == ["error", "broke: a reset"]


def test_what_was_whole_before_an_oversized_event_is_told_first() -> None:
    stream = reader(fields=SSE, limit=200)
    first, second = stream.feed(CREATED + b"data: " + b"x" * 300)
    assert isinstance(first, Arrived)
    assert second == Oversized(1)
    assert list(stream.feed(COMPLETED)) == list(stream.end(None)) == []


def test_a_stream_is_only_commented_where_nothing_else_came() -> None:
    stream = reader(fields=SSE)
    assert [type(event).__name__ for event in stream.feed(b": a\n\n: b\n\n")] == ["Commented"]
    assert [type(event).__name__ for event in stream.feed(b": a\n\n" + DELTA)] == ["Arrived"]


@pytest.mark.parametrize(
    ("fields", "body", "torn", "kept"),
    [
        (JSON, JSON_ERROR, None, JSON_ERROR),
        ({"content-type": "text/html"}, b"<html>", None, b"<html>"),
        (JSON, JSON_ERROR, "a reset", JSON_ERROR),
        (JSON, JSON_ERROR[:-1], "a reset", b""),
        ({"content-type": "text/html"}, b"<html>", "a reset", b""),
        (JSON, b"x" * 1001, None, b""),
        ({**JSON, "content-encoding": "gzip"}, b"\x1f\x8b", None, b""),
        (JSON, b'{"error":"sk-1 is wrong"}', None, b'{"error":"*** is wrong"}'),
    ],
)
def test_a_refusal_keeps_its_status_whatever_becomes_of_its_body(
    fields: dict[str, str], body: bytes, torn: str | None, kept: bytes
) -> None:
    refusal = reader(503, fields)
    answered = [*refusal.feed(body[:9]), *refusal.feed(body[9:])] or [*refusal.end(torn)]
    assert isinstance(answered[0], Answered)
    answer = answered[0].answer
    assert (answer.status, answer.body) == (503, kept)
    assert answer.content_type == (fields["content-type"] if kept else None)


@pytest.mark.parametrize(
    ("header", "body", "wait"),
    [
        (None, JSON_ERROR, None),
        ("9", JSON_ERROR, 9.0),
        ("9", b"", 9.0),
        ("9", b'{"error":{"code":"x","retry_after":4}}', 4.0),
        (None, b'{"error":{"code":"x","retry_after":4}}', 4.0),
    ],
)
def test_how_long_to_wait(header: str | None, body: bytes, wait: float | None) -> None:
    refusal = reader(429, {**JSON, **({"retry-after": header} if header else {})})
    refusal.feed(body)
    (answered,) = refusal.end(None)
    assert isinstance(answered, Answered)
    assert answered.answer.note.retry_after == wait


@pytest.mark.parametrize("streamed", [True, False])
def test_a_result_that_is_no_stream_is_one_frame(streamed: bool) -> None:
    whole = reader(streamed=streamed)
    whole.feed(RESULT[:20])
    whole.feed(RESULT[20:])
    (arrived,) = whole.end(None)
    assert isinstance(arrived, Arrived)
    (frame,) = arrived.frames
    assert (frame.block == RESULT) is not streamed
    assert RESULT in frame.block


@pytest.mark.parametrize(
    ("body", "fields", "torn", "streamed", "begun"),
    [
        (b"<html>", {"content-type": "text/html"}, None, True, False),
        (b"<html>", {"content-type": "text/html"}, None, False, False),
        (b'{"a":1}', JSON, None, False, False),
        (b'{"a":', JSON, None, False, True),
        (b'{"a":', JSON, None, True, False),
        (b'{"a":', {**JSON, "content-length": "5"}, None, False, True),
        (b"", JSON, None, False, True),
        (b"", {**JSON, "content-length": "0"}, None, False, False),
        (b"not json", {**JSON, "content-length": "8"}, None, False, False),
        (b"not json", {**JSON, "transfer-encoding": "chunked"}, None, False, False),
        (b'{"usage":{"input_tokens":1,"output_tokens":1}}', JSON, None, True, True),
        (RESULT, JSON, "a reset", False, True),
        (RESULT, JSON, "a reset", True, False),
    ],
)
def test_whether_the_work_may_have_begun(
    body: bytes, fields: dict[str, str], torn: str | None, streamed: bool, begun: bool
) -> None:
    whole = reader(fields=fields, streamed=streamed)
    whole.feed(body)
    (broke,) = whole.end(torn)
    assert isinstance(broke, Broke)
    assert broke.begun is begun
