"""Frames of a client's WebSocket to whole messages (RFC 6455 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

from websockets.frames import Frame, Opcode

DATA = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})


@dataclass(frozen=True, slots=True)
class Message:
    data: bytes
    binary: bool = False
    """Nobody reads it; its data is not kept."""


class Messages:
    """Feed it every frame, in order. Order and size of the frames are the library's to check."""

    __slots__ = ("_binary", "_data")

    def __init__(self) -> None:
        self._data = bytearray()
        self._binary = False

    def feed(self, frame: Frame) -> Message | None:
        """The message that ends with this frame. However small the fragments are, they cost no
        more memory than their bytes. Nor does a frame keep them: the library remembers the last
        one until the next comes, which may be an hour later."""
        if frame.opcode not in DATA:
            return None
        if frame.opcode is not Opcode.CONT:
            self._binary = frame.opcode is Opcode.BINARY
        if not self._binary:
            self._data += frame.data
        frame.data = b""
        if not frame.fin:
            return None
        data, self._data = bytes(self._data), bytearray()
        return Message(data, self._binary)
