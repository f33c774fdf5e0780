"""Text frames as the library would write them, and text that may stand in one."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from harness.websocket import frames_of
from latchway.serve.frames import text_frames, valid_text
from latchway.serve.limits import FRAGMENT_BYTES


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 20])
def test_a_frame_is_what_the_library_makes(size: int) -> None:
    message = b"x" * size
    assert text_frames([message]) == Frame(Opcode.TEXT, message).serialize(mask=False)


def test_messages_are_joined() -> None:
    joined = text_frames([b"one", b"two"])
    assert joined == text_frames([b"one"]) + text_frames([b"two"])


@pytest.mark.parametrize("over", [0, 1, FRAGMENT_BYTES, FRAGMENT_BYTES + 1])
def test_a_very_large_message_comes_in_fragments(over: int) -> None:
    message = b"x" * FRAGMENT_BYTES + b"y" * over
    frames = list(frames_of(text_frames([message])))

    assert b"".join(frame.data for frame in frames) == message
    assert [frame.opcode for frame in frames] == [1] + [0] * (len(frames) - 1)
    assert [frame.fin for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert max(len(frame.data) for frame in frames) <= FRAGMENT_BYTES


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", b"plain"),
        ("\u00e9\u2028".encode(), "\u00e9\u2028".encode()),
        (b'{"a":"\xff"}', '{"a":"\ufffd"}'.encode()),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd".encode()),
    ],
)
def test_what_is_no_text_is_mended(data: bytes, text: bytes) -> None:
    assert valid_text(data) == text
