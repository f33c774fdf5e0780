"""Frames to messages: fragments are put together, and only what is text is kept."""

from __future__ import annotations

import tracemalloc

import pytest
from websockets.frames import Frame, Opcode

from latchway.serve.messages import Message, Messages

TEXT, BINARY, CONT, PING = Opcode.TEXT, Opcode.BINARY, Opcode.CONT, Opcode.PING


@pytest.mark.parametrize(
    ("frames", "messages"),
    [
        ([Frame(TEXT, b"a")], [Message(b"a")]),
        ([Frame(TEXT, b"")], [Message(b"")]),
        ([Frame(TEXT, b"a", False), Frame(CONT, b"b")], [Message(b"ab")]),
        ([Frame(TEXT, b"a", False), Frame(PING, b"p"), Frame(CONT, b"b")], [Message(b"ab")]),
        ([Frame(TEXT, b"a", False), Frame(CONT, b"", False), Frame(CONT, b"")], [Message(b"a")]),
        ([Frame(TEXT, b"a"), Frame(TEXT, b"b")], [Message(b"a"), Message(b"b")]),
        ([Frame(BINARY, b"a")], [Message(b"", True)]),
        ([Frame(BINARY, b"a", False), Frame(CONT, b"b")], [Message(b"", True)]),
        (
            [Frame(BINARY, b"a", False), Frame(CONT, b"b"), Frame(TEXT, b"c")],
            [Message(b"", True), Message(b"c")],
        ),
        ([Frame(PING, b"p")], []),
        ([Frame(TEXT, b"a", False)], []),
    ],
)
def test_what_the_frames_say(frames: list[Frame], messages: list[Message]) -> None:
    read = Messages()
    assert [message for frame in frames if (message := read.feed(frame))] == messages


def test_small_fragments_cost_no_more_than_their_bytes() -> None:
    read = Messages()
    read.feed(Frame(TEXT, b"x", False))
    empty, one = Frame(CONT, b"", False), Frame(CONT, b"x", False)
    tracemalloc.start()
    for _ in range(50_000):
        read.feed(empty)
        read.feed(one)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 100_000


def test_a_frame_that_was_read_keeps_no_bytes() -> None:
    frame = Frame(Opcode.TEXT, b"{}")
    assert Messages().feed(frame) == Message(b"{}")
    assert frame.data == b""
