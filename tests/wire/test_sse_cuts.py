"""The event stream parser under any cut, any size, and what real servers sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchway.wire import sse
from latchway.wire.frame import Frame, Kind
from latchway.wire.sse import Oversized, Parser

RECORDED = sorted((Path(__file__).parent / "data").glob("*.sse"))
PLENTY = 1 << 26
BOM = b"\xef\xbb\xbf"

DELTA = b'event: response.output_text.delta\ndata: {"type":"d","delta":"hi"}\n\n'
COMPLETED = b'event: response.completed\ndata: {"type":"response.completed"}\n\n'


def frames_of(*reads: bytes) -> list[Frame]:
    parser = Parser(PLENTY)
    return [frame for read in reads for frame in parser.feed(read)]


def blocks_of(*reads: bytes) -> list[bytes]:
    return [frame.block for frame in frames_of(*reads)]


def feed_all(parser: Parser, reads: Iterable[bytes]) -> tuple[list[Frame], bool]:
    """All frames, those within an Oversized too, and whether there was one."""
    frames: list[Frame] = []
    for read in reads:
        try:
            frames += parser.feed(read)
        except Oversized as fault:
            return frames + fault.frames, True
    return frames, False


# ---- size


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_an_event_of_the_largest_size_passes_and_a_larger_one_does_not(
    step: int, ends: bytes
) -> None:
    event = b'data: {"type":"d","delta":"' + b"x" * 50 + b'"}' + ends
    stream = DELTA + event + ends + COMPLETED
    reads = [stream[at : at + step] for at in range(0, len(stream), step)]
    whole, small = Parser(len(event) + 1), Parser(len(event))
    frames, oversized = feed_all(whole, reads)
    assert [frame.block for frame in frames] == [DELTA, event + ends, COMPLETED]
    assert not oversized
    frames, oversized = feed_all(small, reads)
    assert [frame.block for frame in frames] == [DELTA]
    assert oversized
    assert small.done
    assert small.feed(COMPLETED) == small.finish() == []


def test_oversized_names_the_bound() -> None:
    with pytest.raises(Oversized, match="an event is larger than 10 bytes"):
        Parser(10).feed(DELTA)


@pytest.mark.parametrize("endless", [b"data: ", b": ", b"data: x\n", b"event: d\r\ndata: x\r\n"])
def test_what_never_ends_is_oversized(endless: bytes) -> None:
    frames, oversized = feed_all(Parser(1000), [endless + b"x" * 10] * (1000 // len(endless)))
    assert frames == []
    assert oversized


def test_what_is_pending_is_bounded() -> None:
    parser = Parser(1000)
    assert parser.feed(b"data: " + b"x" * 994) == []
    with pytest.raises(Oversized):
        parser.feed(b"x")


LARGE = {
    "one line": b"data: {" + b"x" * (1 << 18) + b"\n\n",
    "many lines": b"data: xxxxxxxx\n" * (1 << 14) + b"\n",
    "many CRLF lines": b"data: xxxxxxxx\r\n" * (1 << 14) + b"\r\n",
    "a comment": b": " + b"x" * (1 << 18) + b"\n",
    "comments": b": x\n" * (1 << 16),
    "blank lines": b"\n" * (1 << 18),
}


class Counted:
    """A pattern that counts the bytes it looks through."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self.pattern, self.work = pattern, 0

    def search(self, text: bytes, at: int) -> re.Match[bytes] | None:
        found = self.pattern.search(text, at)
        self.work += (found.end() if found else len(text)) - max(at, 0)
        return found


@pytest.mark.parametrize("stream", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("step", [64, 1 << 14, 1 << 20])
def test_work_is_linear_in_the_bytes(
    stream: bytes, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts each byte that is looked through for an end, or copied to be cut."""
    blocks, comments, copied = Counted(sse._BLOCK_END), Counted(sse._COMMENT_END), 0
    cut = Parser._cut

    def counted_cut(self: Parser, whole: bytes, searched: int) -> list[Frame]:
        nonlocal copied
        copied += len(whole)
        return cut(self, whole, searched)

    monkeypatch.setattr(sse, "_BLOCK_END", blocks)
    monkeypatch.setattr(sse, "_COMMENT_END", comments)
    monkeypatch.setattr(Parser, "_cut", counted_cut)
    parser = Parser(PLENTY)
    for at in range(0, len(stream), step):
        parser.feed(stream[at : at + step])
    assert 0 < blocks.work + comments.work + copied <= 5 * len(stream)


# ---- any cut, and a second opinion

LINES = [
    b"",
    b"",
    b"",
    b": ping",
    b":",
    b"data: : ping",
    b"data:",
    b"data",
    b'data: {"type":"response.created","response":{"id":"r"}}',
    b'data: {"type":"response.output_text.delta","delta":"h\xc3\xa9"}',
    b'data: {"type":',
    b'data: "error","error":{"code":"c"}}',
    b'data:{"type":"response.completed","response":{"usage":{"input_tokens":1}}}',
    b"data: {}",
    b"event: response.failed",
    b"event: ping",
    b"event:",
    b"id: 7",
    b"retry: 1",
    b"odd: field",
    b"no colon",
]
streams = st.builds(
    lambda bom, lines: bom + b"".join(line + end for line, end in lines),
    st.sampled_from([b"", BOM]),
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from([b"\n", b"\r\n", b"\r"]))),
)
cuts = st.lists(st.integers(0, 400), max_size=8)


def read_simply(stream: bytes) -> list[tuple[bytes, bytes]]:
    """Name and data of each whole event, by the book and the gateway's three exceptions."""
    events, name, data = [], b"", []
    for line in re.split(rb"\r\n|\r|\n", stream.removeprefix(BOM))[:-1]:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if b"".join(data).strip():
                events.append((name, b"\n".join(data)))
            name, data = b"", []
        elif field == b"event":
            name = value
        elif field == b"data" and (data or not value.lstrip().startswith(b":")):
            data.append(value)
    return events


@settings(deadline=None)
@given(stream=streams, at=cuts)
def test_any_cut_gives_the_same_frames(stream: bytes, at: list[int]) -> None:
    bounds = [0, *sorted(at), len(stream)]
    whole, pieces = Parser(PLENTY), Parser(PLENTY)
    expected = whole.feed(stream)
    found = [frame for start, stop in pairwise(bounds) for frame in pieces.feed(stream[start:stop])]
    assert found == expected
    assert pieces.finish() == whole.finish()


@settings(deadline=None)
@given(stream=streams)
def test_a_simple_parser_reads_the_same_events(stream: bytes) -> None:
    frames = frames_of(stream)
    assert [frame.data for frame in frames] == [data for _, data in read_simply(stream)]


@settings(deadline=None)
@given(stream=streams)
def test_each_passed_block_is_one_event_and_nothing_else(stream: bytes) -> None:
    for (name, data), frame in zip(read_simply(stream), frames_of(stream), strict=True):
        assert read_simply(frame.block) == [(name, data)]
        assert blocks_of(frame.block) == [frame.block]
        assert re.search(rb"(^|[\r\n])(id|retry|:)", frame.block) is None


@settings(deadline=None)
@given(junk=st.lists(st.binary(max_size=30), max_size=6))
def test_no_bytes_make_it_raise(junk: list[bytes]) -> None:
    assert frames_of(b"data: {}\n\n", *junk)[:1] == frames_of(b"data: {}\n\n")


# ---- recorded from real servers


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_a_recorded_stream_passes_byte_for_byte(path: Path, ends: bytes) -> None:
    stream = path.read_bytes().replace(b"\n", ends)
    for step in (1, 100, len(stream)):
        reads = [stream[at : at + step] for at in range(0, len(stream), step)]
        assert b"".join(blocks_of(*reads)) == stream


WHAT_THEY_SAID = {
    "llama-cpp": (2, Kind.COMPLETED, 58),
    "llama-cpp-killed": (2, Kind.OUTPUT, 315),
    "transformers-serve": (2, Kind.COMPLETED, 12),
    "vllm": (2, Kind.COMPLETED, 42),
    "vllm-engine-died": (2, Kind.LIFECYCLE, 0),
}


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
def test_a_recorded_stream_is_understood(path: Path) -> None:
    frames = frames_of(path.read_bytes())
    lifecycle = sum(frame.kind is Kind.LIFECYCLE for frame in frames)
    text = sum(frame.text_bytes for frame in frames)
    assert (lifecycle, frames[-1].kind, text) == WHAT_THEY_SAID[path.stem]


UNITS = {
    "a comment": b": hello\n",
    "a block": b'event: x\ndata: {"a": 1}\n\n',
    "a block without a name": b'data: {"a": 1}\n\n',
    "a block of two lines": b'data: {"a":\ndata: 1}\n\n',
    "a block with a strange line": b'id: 7\ndata: {"a": 1}\n\n',
    "a block without data": b"event: x\n\n",
}


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_what_is_too_large_is_so_however_it_was_cut(unit: bytes, line_end: bytes) -> None:
    stream = unit.replace(b"\n", line_end)
    told = set()
    for most in range(len(stream) - 4, len(stream) + 2):
        whole = feed_all(Parser(most), [stream])
        for at in range(1, len(stream)):
            assert feed_all(Parser(most), [stream[:at], stream[at:]]) == whole, (most, at)
        assert feed_all(Parser(most), [bytes([byte]) for byte in stream]) == whole, most
        told.add(whole[1])
    assert told == {True, False}
