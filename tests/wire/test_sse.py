"""The event stream parser: framing, whatever the cuts (R5)."""

from __future__ import annotations

import pytest

from latchway.wire.frame import Frame, Kind
from latchway.wire.sse import Parser

PLENTY = 1 << 26
BOM = b"\xef\xbb\xbf"

CREATED = b'event: response.created\ndata: {"type":"response.created"}\n\n'
DELTA = b'event: response.output_text.delta\ndata: {"type":"d","delta":"hi"}\n\n'
COMPLETED = b'event: response.completed\ndata: {"type":"response.completed"}\n\n'


def frames_of(*reads: bytes) -> list[Frame]:
    parser = Parser(PLENTY)
    return [frame for read in reads for frame in parser.feed(read)]


def blocks_of(*reads: bytes) -> list[bytes]:
    return [frame.block for frame in frames_of(*reads)]


# ---- what passes, and as what

PASSES_UNCHANGED = {
    "plain": DELTA,
    "no event line": b'data: {"type":"d"}\n\n',
    "CRLF": DELTA.replace(b"\n", b"\r\n"),
    "CR": DELTA.replace(b"\n", b"\r"),
    "lines in LF, blank line in CRLF": b'data: {"type":"d"}\n\r\n',
    "no blank after the colon": b'event:d\ndata:{"type":"d"}\n\n',
    "two blanks after the colon": b'event: d\ndata:  {"type":"d"}\n\n',
    "two data lines": b'data: {"type":\ndata: "d"}\n\n',
    "an unknown field": b'trace: 1\ndata: {"type":"d"}\n\n',
    "a field without a colon": b'trace\ndata: {"type":"d"}\n\n',
    "data before event": b'data: {"type":"d"}\nevent: d\n\n',
    "U+2028 and U+0085 in the text": 'data: {"delta":"a\u2028b\u0085c"}\n\n'.encode(),
    "broken UTF-8": b'data: {"type":"d","delta":"\xff"}\n\n',
    "no JSON": b"data: {oops\n\n",
}


@pytest.mark.parametrize("block", PASSES_UNCHANGED.values(), ids=PASSES_UNCHANGED)
def test_an_event_passes_byte_for_byte(block: bytes) -> None:
    assert blocks_of(block) == [block]


STRIPPED = {
    "id": (b"id: 7\n" + DELTA, DELTA),
    "id alone on its line": (b"id\n" + DELTA, DELTA),
    "retry": (b"retry: 1000\n" + DELTA, DELTA),
    "a comment within": (b": hello\n" + DELTA, DELTA),
    "a comment between the lines": (
        b'event: d\n: hello\ndata: {"type":"d"}\n\n',
        b'event: d\ndata: {"type":"d"}\n\n',
    ),
    "a comment in the wrong dress before the data": (b"data: : hello\n" + DELTA, DELTA),
    "id between CRLF lines": (
        b'event: d\r\nid: 1\r\ndata: {"type":"d"}\r\n\r\n',
        b'event: d\r\ndata: {"type":"d"}\r\n\r\n',
    ),
    "a last line, between CR and the blank line's LF": (
        b'data: {"type":"d"}\rid: 1\n\n',
        b'data: {"type":"d"}\r\r',
    ),
    "BOM": (BOM + DELTA, DELTA),
    "blank lines in front": (b"\n\r\n\r" + DELTA, DELTA),
    "blank lines behind": (DELTA + b"\n\n\n", DELTA),
}


@pytest.mark.parametrize(("sent", "passed"), STRIPPED.values(), ids=STRIPPED)
def test_what_is_no_event_is_taken_out_of_a_block(sent: bytes, passed: bytes) -> None:
    assert blocks_of(sent + COMPLETED) == [passed, COMPLETED]


NO_EVENTS = {
    "a comment": b": ping\n\n",
    "an empty comment": b":\n\n",
    "a comment without a blank line": b": ping\n",
    "a comment in the wrong dress": b"data: : keepalive\n\n",
    "the same without a blank": b"data:: keepalive\n\n",
    "an event line alone": b"event: keepalive\n\n",
    "retry alone": b"retry: 1000\n\n",
    "id alone": b"id: 7\n\n",
    "empty data": b"data:\n\n",
    "data without a colon": b"data\n\n",
    "white data": b"data:   \n\n",
}


@pytest.mark.parametrize("block", NO_EVENTS.values(), ids=NO_EVENTS)
def test_what_is_no_event_does_not_pass_but_is_a_sign_of_life(block: bytes) -> None:
    parser = Parser(PLENTY)
    assert parser.feed(block) == []
    assert parser.commented
    assert [frame.block for frame in parser.feed(CREATED)] == [CREATED]
    assert not parser.commented


def test_the_shortest_comment_is_told_as_the_very_first() -> None:
    parser = Parser(PLENTY)
    assert parser.feed(b":\n") == []
    assert parser.commented


def test_a_comment_in_a_read_with_events_is_told() -> None:
    parser = Parser(PLENTY)
    assert len(parser.feed(CREATED + b": ping\n\n" + DELTA)) == 2
    assert parser.commented


def test_a_byte_order_mark_may_come_in_pieces_and_only_once() -> None:
    assert blocks_of(BOM[:1], BOM[1:2], BOM[2:] + DELTA) == [DELTA]
    event, data = DELTA.split(b"\n", 1)
    assert blocks_of(BOM[:2], BOM[2:] + BOM + event + b"\n" + data) == [data]
    assert blocks_of(DELTA, BOM + data) == [DELTA]


@pytest.mark.parametrize("line", [b"data: 7", b"id: 7", b""])
def test_no_block_begins_with_what_a_client_would_take_off_a_streams_head(line: bytes) -> None:
    [frame] = frames_of(b"\n" + BOM + line + b"\ndata: 8\n\n")
    assert (frame.data, frame.block) == (b"8", b"data: 8\n\n")


def test_data_lines_are_joined_by_a_line_feed_and_lose_one_blank() -> None:
    [frame] = frames_of(b'data: {"type":\r\ndata:  "response.created"}\r\n\r\n')
    assert frame.data == b'{"type":\n "response.created"}'
    assert frame.kind is Kind.LIFECYCLE


def test_the_event_line_reaches_the_meaning() -> None:
    assert frames_of(b"event: response.created\ndata: {}\n\n")[0].kind is Kind.LIFECYCLE
    assert frames_of(b"id: 1\nevent: error\ndata: {}\n\n")[0].kind is Kind.ERROR
    assert frames_of(b"data: {}\n\n")[0].kind is Kind.OUTPUT


# ---- the end of a stream


@pytest.mark.parametrize(
    "sentinel",
    [
        b"data: [DONE]\n\n",
        b"data:[DONE]\r\n\r\n",
        b"event: done\ndata: [DONE]\n\n",
        b"data:  [DONE] bye\n\n",
    ],
)
def test_done_ends_the_stream_and_what_follows_is_ignored(sentinel: bytes) -> None:
    parser = Parser(PLENTY)
    assert len(parser.feed(DELTA + sentinel + COMPLETED)) == 1
    assert parser.done
    assert parser.feed(COMPLETED) == []
    assert parser.finish() == []


ENDS = {
    "no line end": (b'data: {"type":"error"}', b'data: {"type":"error"}\n\n'),
    "LF": (COMPLETED[:-1], COMPLETED),
    "CRLF": (b'data: {"type":"error"}\r\n', b'data: {"type":"error"}\r\n\r\n'),
    "half a CRLF": (
        b'event: e\r\ndata: {"type":"error"}\r',
        b'event: e\r\ndata: {"type":"error"}\r\n\r\n',
    ),
    "CR": (b'data: {"type":"error"}\r', b'data: {"type":"error"}\r\r'),
    "an id in it": (b'id: 1\ndata: {"type":"error"}\n', b'data: {"type":"error"}\n\n'),
}


@pytest.mark.parametrize(("torn", "block"), ENDS.values(), ids=ENDS)
def test_a_terminal_event_may_lack_its_blank_line(torn: bytes, block: bytes) -> None:
    parser = Parser(PLENTY)
    assert parser.feed(DELTA + torn) == frames_of(DELTA)
    assert [frame.block for frame in parser.finish()] == [block]
    assert parser.finish() == []


@pytest.mark.parametrize(
    "torn",
    [
        DELTA[:-1],
        CREATED[:-1],
        COMPLETED[:-3],
        b"event: response.completed\n",
        b": ping",
        b"data: [DONE]",
        b"",
        BOM[:2],
    ],
)
def test_any_other_torn_event_is_dropped(torn: bytes) -> None:
    parser = Parser(PLENTY)
    assert parser.feed(torn) == []
    assert parser.finish() == []


# ---- CR: an event must not wait for a byte that may never come


def test_an_event_ended_by_cr_goes_out_at_once_and_a_following_lf_is_no_line() -> None:
    parser = Parser(PLENTY)
    [first] = parser.feed(b"data: {}\r\r")
    assert first.block == b"data: {}\r\r"
    assert parser.feed(b"\n") == []
    assert [frame.block for frame in parser.feed(DELTA)] == [DELTA]


def test_an_event_ended_by_half_a_crlf_goes_out_whole_at_once() -> None:
    parser = Parser(PLENTY)
    [first] = parser.feed(b"data: {}\r\n\r")
    assert first.block == b"data: {}\r\n\r\n"
    assert [frame.block for frame in parser.feed(b"\n" + DELTA)] == [DELTA]


def test_a_crlf_cut_in_two_within_a_block_is_one_line_end() -> None:
    assert blocks_of(b"event: d\r", b"\ndata: {}\r", b"\n\r", b"\n") == [
        b"event: d\r\ndata: {}\r\n\r\n"
    ]
