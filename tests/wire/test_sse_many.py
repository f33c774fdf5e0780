"""A read of many events is passed in runs, and means what the same bytes mean in small reads."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.runs import PIECE, apart
from latchway.wire import sse
from latchway.wire.frame import Frame, Run
from latchway.wire.sse import FEW_BYTES, Oversized, Parser

DELTA = b'event: response.output_text.delta\ndata: {"type":"d","delta":"hi"}\n\n'
COMPLETED = b'event: response.completed\ndata: {"type":"response.completed"}\n\n'
MANY = DELTA * (1 + FEW_BYTES // len(DELTA))
PLENTY = 1 << 20
FEWER = 16
"""Frames of a thousand events: each run reaches farther than the one before."""


def torn(end: bytes) -> bytes:
    """A block whose two lines would be an event, were their end white space between tokens."""
    return DELTA.replace(b"{", b"{" + end)


def in_crlf(lines: bytes) -> bytes:
    return lines.replace(b"\n", b"\r\n")


READS = {
    "all of the usual shape": MANY + COMPLETED,
    "CRLF": in_crlf(MANY + COMPLETED),
    "without event lines": MANY.replace(b"event: response.output_text.delta\n", b""),
    "the last one torn": MANY + DELTA[:40],
    "a comment in their midst": MANY + b": keepalive\n\n" + MANY,
    "a comment before them": b": keepalive\n\n" + MANY,
    "an id in their midst": MANY + b"id: 7\n" + MANY,
    "data in two lines in their midst": MANY + b'data: {"type":\ndata: "d"}\n\n' + MANY,
    "the end in their midst": MANY + b"data: [DONE]\n\n" + MANY,
    "half an event, then no field, in their midst": MANY + torn(b"\n") + MANY,
    "the same behind a CR": in_crlf(MANY + torn(b"@") + MANY).replace(b"@", b"\r"),
    "the same behind an LF": in_crlf(MANY + torn(b"@") + MANY).replace(b"@", b"\n"),
    "what is no JSON in their midst": MANY + b"data: {oops\n\n" + MANY,
}

EVENTS = [
    b'{"type":"d","delta":"hi"}',
    b'{"type":"d","delta":"h\xc3\xa9"}',
    b'{"type":"d","delta":"data: {}"}',
    b'{"type":"d","delta":5}',
    b'{"type":"d","delta":"\\ud800"}',
    b'{"type":"d","delta":"\xff"}',
    b'{"type":"d"}',
    b'{"type":"d","usage":null,"response":null,"item":null}',
    b'{"type":"d","usage":{"input_tokens":1,"output_tokens":1}}',
    b'{"type":"d","response":{"usage":{"input_tokens":1,"output_tokens":1}}}',
    b'{"type":"d","item":{"type":"reasoning","id":"rs_1"}}',
    b'{"type":"d","item":' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"type":"d","nested":' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"type":"response.audio.delta","delta":"AAAA"}',
    b'{"type":"error","code":"slow_down"}',
    b'{"type":"d","type":"ping"}',
    b'{"type":5}',
    b'{"delta":"hi"}',
    b'{"type":"d","a":',
    b'{"type":"d"}}',
    b"{}",
]
NAMES = [b"", b"event: d\n", b"event: error\n", b"event: ping\n"]
blocks = st.builds(
    lambda name, event, times: b"%bdata: %b\n\n" % (name, event) * times,
    st.sampled_from(NAMES),
    st.sampled_from(EVENTS),
    st.integers(1, 3),
)


def frames_of(*reads: bytes, most: int = PLENTY) -> tuple[list[Frame], bool]:
    """The frames, those before an event that is too large, and whether there was one."""
    parser, frames = Parser(most), list[Frame]()
    try:
        for read in reads:
            frames += parser.feed(read)
    except Oversized as fault:
        return apart(frames + fault.frames), True
    return apart(frames), False


def pieces(read: bytes) -> list[bytes]:
    return [read[start : start + PIECE] for start in range(0, len(read), PIECE)]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_many_at_once_are_what_they_are_one_by_one(read: bytes) -> None:
    frames, _ = frames_of(read)

    assert frames == frames_of(*pieces(read))[0]
    assert len(frames) >= MANY.count(b"\n\n")


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", NAMES[:2])
@pytest.mark.parametrize("event", EVENTS[:3])
def test_plain_output_passes_in_a_few_frames(event: bytes, name: bytes, ends: bytes) -> None:
    block = (b"%bdata: %b\n\n" % (name, event)).replace(b"\n", ends)
    frames = Parser(PLENTY).feed(block * FEW_BYTES)

    assert isinstance(frames[0], Run)
    assert len(frames) <= FEWER
    assert b"".join([frame.block for frame in frames]) == block * FEW_BYTES
    assert [data for frame in frames for data in frame.payloads()] == [event] * FEW_BYTES


def test_short_runs_pass_together_too() -> None:
    one, other = DELTA, DELTA.replace(b"output_text", b"refusal")
    frames = Parser(PLENTY).feed((one * 3 + other * 2) * FEW_BYTES)
    assert [len(frame.payloads()) for frame in frames] == [3, 2] * FEW_BYTES


def test_of_a_run_the_data_is_that_of_its_last_event() -> None:
    last = DELTA.replace(b"hi", b"bye")
    frames = Parser(PLENTY).feed(MANY + last)
    assert b"event: response.output_text.delta\ndata: %b\n\n" % frames[-1].data == last


@settings(deadline=None)
@given(
    runs=st.lists(blocks, max_size=6),
    ends=st.sampled_from([b"\n", b"\r\n"]),
    at=st.lists(st.integers(0, 400), max_size=4),
    reach=st.integers(1, 300),
)
def test_runs_mean_what_their_events_mean(
    runs: list[bytes], ends: bytes, at: list[int], reach: int
) -> None:
    stream = b"".join(runs).replace(b"\n", ends)
    bounds = [0, *sorted(at), len(stream)]
    reads = [stream[start:stop] for start, stop in pairwise(bounds)]
    expected = frames_of(*pieces(stream))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sse, "FEW_BYTES", 0)
        patched.setattr(sse, "REACH_BYTES", reach)
        parser = Parser(PLENTY)
        found = [frame for read in reads for frame in parser.feed(read)]
    assert (apart(found), False) == expected


def test_events_are_passed_that_are_larger_only_all_together() -> None:
    assert frames_of(MANY, most=len(DELTA)) == frames_of(*pieces(MANY))


def test_one_that_is_too_large_ends_the_stream_among_many() -> None:
    large = DELTA.replace(b"hi", b"h" * 100)
    frames, oversized = frames_of(MANY + large + MANY, most=len(DELTA))

    assert oversized
    assert frames == frames_of(MANY)[0]
