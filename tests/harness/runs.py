"""A run of plain output taken apart again: it must mean what its events mean one by one."""

from __future__ import annotations

from collections.abc import Iterable

from latchway.wire.frame import Frame, Kind, Run
from latchway.wire.sse import Parser

PIECE = 64
"""Bytes of a small read: never enough for a run."""


def apart(frames: Iterable[Frame]) -> list[Frame]:
    """The frames of single events."""
    return [each for frame in frames for each in _events_of(frame)]


def _events_of(frame: Frame) -> list[Frame]:
    if not isinstance(frame, Run):
        return [frame]
    parser, block = Parser(len(frame.block)), frame.block
    pieces = [block[start : start + PIECE] for start in range(0, len(block), PIECE)]
    events = [event for piece in pieces for event in parser.feed(piece)]
    assert {(event.kind, event.note, event.made) for event in events} == {(Kind.OUTPUT, None, ())}
    assert (frame.kind, frame.note, frame.made) == (Kind.OUTPUT, None, ())
    assert list(frame.payloads()) == [event.data for event in events]
    assert frame.data == events[-1].data
    assert frame.text_bytes == sum(event.text_bytes for event in events)
    return events
