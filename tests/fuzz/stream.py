"""The event stream parser: the same frames however it is cut, and those of a second reader.

What passes is what came: a block is its source's bytes, and the data in it is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from unittest.mock import patch

from fuzz import event, simple_sse, texts
from fuzz.dice import Dice
from fuzz.engine import Target, chosen
from fuzz.work import counted
from harness.runs import apart
from latchway.wire import meaning, sse
from latchway.wire.frame import Frame
from latchway.wire.sse import Oversized, Parser

PLENTY = 1 << 26
BOUNDS = (PLENTY, PLENTY, PLENTY, 300, 80, 20)
"""Of one event, in bytes; the small ones are often met."""

WORK_ONE_IN = 300
"""Inputs, to one of which its work is counted: it is made large for that."""
WORK_BYTES = 1 << 14
WORK_PER_BYTE = 5
"""Each byte may be copied and looked at so often, on the average."""

ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r\n", b"\r")
LINES = (
    b": ping", b":", b"data: : ping", b"data:", b"data", b"data: {}", b"data: [DONE]",
    b"data:  {}", b"data:\t{}", b"event:", b"event: ping", b"event: error",
    b"event:response.failed", b"id: 7", b"id", b"retry: 1", b"retry", b"odd: field", b"no colon",
    b"data : x", b" data: x", b'data: {"type":', b'data: "error"}', b"DATA: {}",
    b"\xef\xbb\xbfdata: {}", b"data: \0", b"\0",
)  # fmt: skip

EVENTS = (
    b'{"type":"response.created","response":{"id":"resp_1"}}', b'{"type":"ping"}',
    b'{"type":"response.output_text.delta","delta":"hi"}', b'{"type":"d","delta":"h\xc3\xa9"}',
    b'{"type":"d","delta":"\xe2\x80\xa8\xc2\x85"}', b'{"type":"d",\n"delta":"two lines"}', b"{}",
    b'{"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":1}}}',
    b'{"type":"response.failed","response":{"error":{"code":"server_error"}}}', b"[1]", b"\xff",
    b'{"type":"error","code":"slow_down"}', b'{"type":"d","delta":"cut', b'{"type":"d"}\n',
)  # fmt: skip


def make(dice: Dice) -> bytes:
    """A stream: blocks of events, with stray lines between and within them."""
    end = dice.pick(ENDS)
    stream = b"\xef\xbb\xbf" if dice.chance(0.05) else b""
    for _ in range(1 + dice.few()):
        for line in _block(dice):
            stream += line + (end if dice.chance(0.95) else dice.pick(ENDS))
    return stream


def _block(dice: Dice) -> list[bytes]:
    if dice.chance(0.25):
        return [*dice.some(LINES, 4), *([b""] if dice.chance(0.8) else [])]
    data = texts.encoded(event.event(dice)) if dice.chance(0.03) else dice.pick(EVENTS)
    block = [b"data: " + line for line in data.split(b"\n")]
    if dice.chance(0.6):
        block.insert(0, b"event: " + dice.pick(event.TYPES).encode())
    if dice.chance(0.1):
        block.insert(dice.below(len(block) + 1), dice.pick(LINES))
    return [*block, b""]


class Seen(NamedTuple):
    """All that a parser gives of one stream."""

    frames: list[Frame]
    last: list[Frame]
    oversized: bool
    done: bool


def play(reads: Sequence[bytes], most: int = PLENTY) -> Seen:
    parser, frames = Parser(most), list[Frame]()
    try:
        for read in reads:
            frames += parser.feed(read)
    except Oversized as fault:
        return Seen(frames + fault.frames, parser.finish(), True, parser.done)
    return Seen(frames, parser.finish(), False, parser.done)


def single(seen: Seen) -> Seen:
    """Its events one by one: whether some make a run is a matter of how the bytes were cut."""
    return seen._replace(frames=apart(seen.frames))


def check(data: bytes) -> None:
    dice = chosen(data)
    most = dice.pick(BOUNDS)
    seen = single(play([data], most))
    assert single(play(_cut(dice, data), most)) == seen
    reach = 1 + dice.below(2 * sse.FEW_BYTES)
    with patch.multiple(sse, FEW_BYTES=0, REACH_BYTES=reach):
        in_runs = play([data], most)
    assert single(in_runs) == seen
    _check_second_reader(data, seen)
    for frame in seen.frames + seen.last:
        _check_block(frame)
    if dice.below(WORK_ONE_IN) == 0:
        _check_work(dice, data)


def _cut(dice: Dice, data: bytes) -> list[bytes]:
    if len(data) < 400 and dice.chance(0.3):
        return [data[at : at + 1] for at in range(len(data))]
    at = sorted(dice.below(len(data) + 1) for _ in range(1 + dice.few()))
    return [data[start:stop] for start, stop in pairwise([0, *at, len(data)])]


def _check_second_reader(data: bytes, seen: Seen) -> None:
    events, torn, done = simple_sse.read(data)
    assert seen.oversized or len(seen.frames) == len(events)
    assert seen.oversized or seen.done == (done or (torn is not None and torn.is_done))
    for frame, read in zip(seen.frames, events, strict=False):
        _check_frame(frame, read)
        assert not read.complete or _stood_in(frame.block, data)
    if seen.oversized or torn is None:
        assert seen.last == []
        return
    kind = meaning.frame(torn.text, b"", torn.name).kind
    assert len(seen.last) == (kind in meaning.TERMINAL and not torn.is_done)
    for frame in seen.last:
        _check_frame(frame, torn)


def _check_frame(frame: Frame, read: simple_sse.Event) -> None:
    """The data is the source's, and so are the lines that pass; the meaning is the event's own."""
    assert frame.data == read.text
    assert frame == meaning.frame(read.text, frame.block, read.name)
    assert re.split(rb"\r\n|\r|\n", frame.block)[:-2] == read.lines


def _stood_in(block: bytes, stream: bytes) -> bool:
    """Byte for byte; but for the LF that is given to a blank line of CR, whose own may follow."""
    return block in stream or (block.endswith(b"\n\r\n") and block[:-1] in stream)


def _check_block(frame: Frame) -> None:
    """What passes is one event and no more, for both readers, and ends with a blank line."""
    events, torn, done = simple_sse.read(frame.block)
    assert [read.text for read in events] == [frame.data]
    assert torn is None
    assert not done
    assert play([frame.block]).frames == [frame]


def _check_work(dice: Dice, data: bytes) -> None:
    """A stream made of a piece of this one, over and over, costs no more than its length."""
    start = dice.below(len(data) + 1)
    piece = data[start : start + 1 + dice.below(100)] or b"\n"
    stream = dice.pick((b"", b"data: ", b": ")) + piece * (WORK_BYTES // len(piece))
    step = dice.pick((16, 64, 1 << 12))
    with counted() as work:
        play([stream[at : at + step] for at in range(0, len(stream), step)])
    assert work.bytes <= WORK_PER_BYTE * len(stream)


TARGET = Target("sse", make, check, inputs=150_000)
