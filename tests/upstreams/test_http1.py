"""An answer read from bytes: the same whatever the reads, and bounded whatever comes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.upstreams.http1 import AnswerReader, Head, request_head

MAX_HEAD = 1000

CHUNKED = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nX: 1\r\nX: 2\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\ntrailer: t\r\n\r\n"
)
SIZED = b"HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nabcde"
UNSIZED = b"HTTP/1.1 200 OK\r\n\r\nabcde"


def read(*reads: bytes) -> tuple[AnswerReader, bytes]:
    reader = AnswerReader(MAX_HEAD)
    return reader, b"".join([reader.feed(data) for data in reads])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % len(data) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


@given(answer=st.sampled_from([CHUNKED, SIZED]), places=st.lists(st.integers(0, 999), max_size=9))
def test_any_split_gives_the_same_answer(answer: bytes, places: list[int]) -> None:
    whole, body = read(answer)
    reader, again = read(*cut(answer, places))
    assert body == again == b"abcde"
    assert (reader.head, reader.complete, reader.fault) == (whole.head, True, None)
    assert reader.reusable


def test_the_head_is_that_of_the_last_answer() -> None:
    reader, _ = read(CHUNKED)
    assert reader.head == Head(
        200,
        {
            "content-type": "Text/Event-Stream; charset=utf-8",
            "x": "1, 2",
            "transfer-encoding": "chunked",
        },
    )
    assert reader.head.content_type == "text/event-stream"
    assert reader.head.plain


def test_a_head_is_taken_once_and_its_answer_goes_on_without_it() -> None:
    reader, _ = read(CHUNKED[:-20].replace(b"X: 1", b"Keep-Alive: timeout=7"))
    head = reader.take_head()
    assert head is not None
    assert (head.status, reader.take_head(), reader.kept_seconds) == (200, None, 7.0)
    reader.feed(CHUNKED[-20:])
    assert reader.reusable


@pytest.mark.parametrize(
    ("coding", "plain"), [("identity", True), ("", True), ("gzip", False), ("br, gzip", False)]
)
def test_a_body_is_plain_unless_it_is_encoded(coding: str, plain: bool) -> None:
    assert Head(200, {"content-encoding": coding}).plain is plain


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        (UNSIZED, True),
        (SIZED[:-1], False),
        (CHUNKED[:-5], False),
        (b"HTTP/1.1 200 OK\r\n", False),
        (b"", False),
        (b"HTTP/1.1 100 Continue\r\n\r\n", False),
        (SIZED, True),
    ],
)
def test_what_the_close_of_the_connection_ends(answer: bytes, ends: bool) -> None:
    reader, _ = read(*[answer] * bool(answer))
    assert reader.end_of_input() is ends


@pytest.mark.parametrize(
    "answer",
    [
        UNSIZED,
        SIZED + b"x",
        SIZED + SIZED,
        SIZED.replace(b"1.1", b"1.0"),
        SIZED.replace(b"Content", b"Connection: close\r\nContent"),
        SIZED.replace(b"Content", b"Connection: close\r\nContent") + b"x",
    ],
)
def test_what_may_not_be_followed_by_another_request(answer: bytes) -> None:
    reader, body = read(answer)
    reader.end_of_input()
    assert body == b"abcde"
    assert reader.complete
    assert not reader.reusable


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\nContent-Length: 1\n\na",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_what_is_no_answer_is_a_fault(answer: bytes) -> None:
    """Strictly: two readers that differ about where an answer ends are a hole."""
    reader, _ = read(answer)
    assert reader.fault is not None
    assert not reader.reusable
    assert not (reader.complete and reader.fault is None)


GZIPPED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
LONG_TRAILERS = CHUNKED[:-2] + b"t: 12345678\r\n" * 200


@pytest.mark.parametrize("size", [1, 40, 5000])
@pytest.mark.parametrize(("answer", "good"), [(GZIPPED, b""), (LONG_TRAILERS, b"abcde")])
def test_of_a_faulty_answer_what_came_before_the_fault_stays(
    answer: bytes, good: bytes, size: int
) -> None:
    reader, body = read(*[answer[at : at + size] for at in range(0, len(answer), size)])
    assert reader.fault is not None
    assert body == good


@given(st.binary(max_size=200), st.lists(st.integers(0, 999), max_size=5))
def test_no_bytes_raise(data: bytes, places: list[int]) -> None:
    reader = AnswerReader(MAX_HEAD)
    for part in cut(b"HTTP/1.1 2" + data, places):
        reader.feed(part)
    reader.end_of_input()
    assert isinstance(reader.reusable, bool)


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(
    "flood",
    [
        b"HTTP/1.1 200 OK\r\n" + b"x: 12345678\r\n" * 200,
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 3000,
        b"HTTP/1.1 " + b"y" * 3000,
        b"HTTP/1.1 103 Early Hints\r\nx: 12345678\r\n\r\n" * 200,
        CHUNKED[:-15] + b"t: 12345678\r\n" * 200,
    ],
)
def test_header_fields_are_bounded(flood: bytes, size: int) -> None:
    reader, _ = read(*[flood[start : start + size] for start in range(0, len(flood), size)])
    assert reader.fault is not None


def test_the_body_is_not_bounded_by_the_bound_of_the_head() -> None:
    reader, body = read(UNSIZED[:-5], *[b"x" * 600] * 9)
    assert (reader.fault, len(body)) == (None, 5400)


def test_a_request_head_is_lines_of_ascii() -> None:
    assert request_head("/v1/responses", [("host", "h"), ("a", "b")]) == (
        b"POST /v1/responses HTTP/1.1\r\nhost: h\r\na: b\r\n\r\n"
    )
