"""A client over WebSocket that sends any frame a test says, and reads frames as they come."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from websockets.frames import Frame, Opcode

from harness.clock import VirtualClock
from harness.http import HttpPeer

HANDSHAKE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def masked(opcode: Opcode, data: bytes, fin: bool = True) -> bytes:
    """A client's frame."""
    return Frame(opcode, data, fin).serialize(mask=True)


@dataclass
class Received:
    """One frame of the server."""

    opcode: int
    fin: bool
    data: bytes


def frames_of(data: bytes) -> Iterator[Received]:
    """The frames in a server's bytes, which are not masked (RFC 6455 5.2)."""
    at = 0
    while at < len(data):
        first, size = data[at], data[at + 1]
        at += 2
        if size == 126:
            (size,), at = struct.unpack_from("!H", data, at), at + 2
        elif size == 127:
            (size,), at = struct.unpack_from("!Q", data, at), at + 8
        assert first & 0x70 == 0, "a reserved bit"
        assert at + size <= len(data), "a torn frame"
        yield Received(first & 0x0F, bool(first & 0x80), data[at : at + size])
        at += size


class SocketPeer:
    """One WebSocket, of which the handshake is over."""

    def __init__(self, http: HttpPeer, clock: VirtualClock) -> None:
        self.transport, self._clock = http.transport, clock
        self._from = len(http.transport.taken)

    @classmethod
    def upgraded(cls, http: HttpPeer, clock: VirtualClock, headers: dict[str, str]) -> SocketPeer:
        http.request("GET", "/v1/responses", None, **HANDSHAKE | headers)
        assert http.transport.taken.startswith(b"HTTP/1.1 101 "), bytes(http.transport.taken)
        return cls(http, clock)

    # ---- what the client says

    def send(self, data: bytes) -> None:
        self.transport.send(data)
        self._clock.advance()

    def frame(self, opcode: Opcode, data: bytes, *, fin: bool = True) -> None:
        """One masked frame."""
        self.send(masked(opcode, data, fin))

    def text(self, data: bytes | str) -> None:
        self.frame(Opcode.TEXT, data.encode() if isinstance(data, str) else data)

    def say(self, type: str | None, **members: Any) -> None:
        """A message of that type."""
        named = {} if type is None else {"type": type}
        self.text(json.dumps(named | members))

    def create(self, **fields: Any) -> None:
        """A turn; its first attempt, if there is one, is open afterwards."""
        self.say("response.create", **{"model": "m", "input": "hi"} | fields)

    def close(self, code: int = 1000) -> None:
        self.frame(Opcode.CLOSE, struct.pack("!H", code))

    # ---- what the client has got

    @property
    def frames(self) -> list[Received]:
        return list(frames_of(bytes(self.transport.taken[self._from :])))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Messages, put together from their fragments."""
        messages: list[bytes] = []
        for frame in self.frames:
            if frame.opcode == Opcode.TEXT:
                messages.append(frame.data)
            elif frame.opcode == Opcode.CONT:
                messages[-1] += frame.data
        return [json.loads(message) for message in messages]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def errors(self) -> list[str]:
        """Codes of the `error` frames; the shape that each has is checked on the way."""
        errors = [event for event in self.events if event["type"] == "error"]
        for each in errors:
            assert type(each["status"]) is int
            assert each["request_id"].startswith("req_")
        return [each["error"]["code"] for each in errors]

    @property
    def pings(self) -> int:
        return sum(frame.opcode == Opcode.PING for frame in self.frames)

    @property
    def closed_by(self) -> tuple[int | None, str]:
        """Code and reason of the server's close frame."""
        return self.close_code, self.close_reason

    @property
    def close_code(self) -> int | None:
        """Of the server's close frame, after which nothing may come."""
        for number, frame in enumerate(self.frames):
            if frame.opcode == Opcode.CLOSE:
                assert number == len(self.frames) - 1, "something behind a close frame"
                return int.from_bytes(frame.data[:2])
        return None

    @property
    def close_reason(self) -> str:
        return self.frames[-1].data[2:].decode() if self.close_code is not None else ""
