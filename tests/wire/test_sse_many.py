"""A read of many events is passed at once, and means what the same bytes mean in small reads."""

from __future__ import annotations

import pytest

from latchway.wire.frame import Frame
from latchway.wire.sse import FEW_BYTES, Oversized, Parser

DELTA = b'event: response.output_text.delta\ndata: {"type":"d","delta":"hi"}\n\n'
COMPLETED = b'event: response.completed\ndata: {"type":"response.completed"}\n\n'
MANY = DELTA * (1 + FEW_BYTES // len(DELTA))
PLENTY = 1 << 20
PIECE = 64
"""Bytes of a small read: less than an event."""

READS = {
    "all of the usual shape": MANY + COMPLETED,
    "CRLF": (MANY + COMPLETED).replace(b"\n", b"\r\n"),
    "without event lines": MANY.replace(b"event: response.output_text.delta\n", b""),
    "the last one torn": MANY + DELTA[:40],
    "a comment in their midst": MANY + b": keepalive\n\n" + MANY,
    "a comment before them": b": keepalive\n\n" + MANY,
    "an id in their midst": MANY + b"id: 7\n" + MANY,
    "data in two lines in their midst": MANY + b'data: {"type":\ndata: "d"}\n\n' + MANY,
    "the end in their midst": MANY + b"data: [DONE]\n\n" + MANY,
    "what is no JSON in their midst": MANY + b"data: {oops\n\n" + MANY,
}


def frames_of(*reads: bytes, most: int = PLENTY) -> tuple[list[Frame], bool]:
    """The frames, those before an event that is too large, and whether there was one."""
    parser, frames = Parser(most), list[Frame]()
    try:
        for read in reads:
            frames += parser.feed(read)
    except Oversized as fault:
        return frames + fault.frames, True
    return frames, False


def pieces(read: bytes) -> list[bytes]:
    return [read[start : start + PIECE] for start in range(0, len(read), PIECE)]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_many_at_once_are_what_they_are_one_by_one(read: bytes) -> None:
    frames, _ = frames_of(read)

    assert frames == frames_of(*pieces(read))[0]
    assert len(frames) >= MANY.count(b"\n\n")


def test_events_are_passed_that_are_larger_only_all_together() -> None:
    assert frames_of(MANY, most=len(DELTA)) == frames_of(*pieces(MANY))


def test_one_that_is_too_large_ends_the_stream_among_many() -> None:
    large = DELTA.replace(b"hi", b"h" * 100)
    frames, oversized = frames_of(MANY + large + MANY, most=len(DELTA))

    assert oversized
    assert frames == frames_of(MANY)[0]


def test_the_shape_is_looked_for_again_once_a_read_begins_with_it() -> None:
    parser = Parser(PLENTY)
    reads = (b": keepalive\n\n" + MANY, MANY, MANY + COMPLETED)

    counts = [len(parser.feed(read)) for read in reads]

    usual = MANY.count(b"\n\n")
    assert counts == [usual, usual, usual + 1]
