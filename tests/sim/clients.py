"""The clients: they ask, read what they are handed to the byte, and leave when they like.

Both read at the moment at which the gateway hands bytes to their connection; how fast they take
them is the wire's business.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from struct import pack, unpack_from
from typing import TYPE_CHECKING, Any

from harness.prompt import prompt_bytes
from sim.network import Wire
from sim.universe import Process, Violation

if TYPE_CHECKING:
    from sim.cases import Case
    from sim.world import World

BLOCK_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
COMMENT = b": keepalive\n\n"
THINKING = (0.0, 0.001, 0.3, 2.0)
"""Seconds between an answer and the next request."""


class Client:
    """One connection. `cases`: what it will ask, in order."""

    def __init__(self, world: World, cases: list[Case]) -> None:
        self.world, self.universe = world, world.universe
        self.cases = deque(cases)
        self.active: deque[Case] = deque()
        """Asked, and not yet answered, in order."""
        self.left = self.cut = False
        """The client has left; the gateway has ended the connection."""
        self.process: Process = world.process
        self.wire = Wire(self.process, self)
        self._slow()

    def _slow(self) -> None:
        """Some take their bytes slowly, or stop to."""
        random = self.universe.random
        if random.random() < 0.1:
            self.wire.high, self.wire.window = random.choice((100, 2000)), random.choice((0, 700))
            self.universe.after(1.0, self._take)

    def _take(self) -> None:
        if self.wire.over:
            return
        sort = self.universe.random.random()
        if sort < 0.004:
            return
        if sort > 0.9:
            self.wire.take_all()
            return
        self.wire.take(400)
        self.universe.after(0.7, self._take)

    @property
    def pressed(self) -> bool:
        """Does more wait for it than it takes, so that its next upstream is not read?"""
        return self.wire.paused

    # ---- network.Peer

    def handed(self, data: bytes) -> None:
        self.read(data)

    def sent(self, data: bytes) -> None:
        """It was read when it was handed over."""

    def hung_up(self, reset: bool) -> None:
        self.cut = True
        self.ended(reset)

    # ---- what it does

    def send(self, data: bytes) -> None:
        if not self.wire.over:
            self.wire.arrive(data)

    def ask_next(self) -> None:
        if self.left or self.cut or not self.cases or self.universe.process is not self.process:
            return
        case = self.cases.popleft()
        case.began = self.universe.now
        case.client = self
        self.active.append(case)
        self.world.asked(case)
        self.send(self.request(case))

    def leave(self, how: str) -> None:
        """fin | rst"""
        if self.left or self.cut:
            return
        self.left = True
        self.cases.clear()
        self.universe.note("client of %s leaves (%s)", [c.number for c in self.active], how)
        if how == "fin":
            self.wire.arrive_fin()
        else:
            self.wire.arrive_rst()

    def answered(self, case: Case) -> None:
        """The answer of the oldest turn is all there."""
        assert self.active[0] is case
        self.active.popleft()
        case.answered = True
        if not self.active:
            pause = self.universe.random.choice(THINKING)
            self.universe.after(pause, self._go_on)

    def _go_on(self) -> None:
        if self.active or self.left or self.cut:
            return
        if self.cases:
            self.ask_next()
        else:
            self.leave("fin")

    def read(self, data: bytes) -> None:
        raise NotImplementedError

    def request(self, case: Case) -> bytes:
        raise NotImplementedError

    def ended(self, reset: bool) -> None:
        """The gateway has closed: only for a reason."""
        for case in self.active:
            excused = self.left or case.crashed or self.world.excuses_close(self)
            begun = case.request_id is not None
            case.check(excused or not begun, "D2: cut off without an end")


class HttpClient(Client):
    """Requests on one connection, one after another."""

    def __init__(self, world: World, cases: list[Case]) -> None:
        super().__init__(world, cases)
        self._buffer = bytearray()
        self._headers: dict[str, str] | None = None
        self._status = 0

    def request(self, case: Case) -> bytes:
        body = self.world.body_of(case)
        case.prompt_bytes = prompt_bytes(body)
        lines = [
            b"POST /v1/responses HTTP/1.1", b"host: gateway", b"content-type: application/json",
            b"authorization: Bearer " + self.world.secret_of(case).encode(),
            b"content-length: %d" % len(body),
        ]  # fmt: skip
        if case.asked.pinned is not None:
            lines.append(b"x-latchway-route: " + case.asked.pinned.encode())
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def read(self, data: bytes) -> None:
        self._buffer += data
        while self._read_some():
            pass

    def _read_some(self) -> bool:
        """Take what is whole; False: wait for more."""
        if self._headers is None:
            return self._read_head()
        case = self.active[0]
        if "transfer-encoding" in self._headers:
            return self._read_chunk(case)
        size = int(self._headers["content-length"])
        if len(self._buffer) < size:
            return False
        body = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._headers = None
        self._whole(case, body)
        return True

    def _read_head(self) -> bool:
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return False
        self._buffer = rest
        status, *lines = head.decode("latin-1").split("\r\n")
        self._status = int(status.split(" ")[1])
        self._headers = dict(line.split(": ", 1) for line in lines)
        if not self.active:
            raise Violation("D2: an answer that nobody asked for")
        case = self.active[0]
        case.status = self._status
        case.check_headers(self._status, self._headers)
        return True

    def _read_chunk(self, case: Case) -> bool:
        if not self._buffer:
            return False
        line, found, rest = self._buffer.partition(b"\r\n")
        size = int(line, 16) if found else -1
        if not found or len(rest) < size + 2:
            raise Violation("a chunk in two writes")
        data = bytes(rest[:size])
        self._buffer = rest[size + 2 :]
        if size == 0:
            self._headers = None
            case.check(len(case.ends) > 0, "D2: a body that ends without a terminal event")
            self.answered(case)
        else:
            self._events(case, data)
        return True

    def _events(self, case: Case, data: bytes) -> None:
        """Whole blocks, for an event is not split over two writes (R5)."""
        start = 0
        for found in BLOCK_END.finditer(data):
            block = data[start : found.end()]
            start = found.end()
            if block == COMMENT:
                case.check(case.ends in ([], ["error"]), "a comment behind the end")
            elif case.hand(block, exact="block") is None:
                self._own(case, block)
        case.check(start == len(data), "R5: an event in two writes")

    def _own(self, case: Case, block: bytes) -> None:
        data = json.loads(block.split(b"data: ", 1)[1])
        if data["type"] == "error":
            case.told_by_gateway("own error")
            case.code = data["error"]["code"]
        else:
            case.check(case.serving is not None, "R5: response.failed for an unknown response")
            case.told_by_gateway("own failed")

    def _whole(self, case: Case, body: bytes) -> None:
        """One JSON body: a result, an answer passed on, or the gateway's own words."""
        if self._status != 200 or case.hand(body, exact="data") is None:
            case.told_by_gateway("answer")
            case.check_refusal(self._status, body)
        self.answered(case)


class SocketClient(Client):
    """Turns on a WebSocket; the next is sometimes asked while one is active."""

    def __init__(self, world: World, cases: list[Case]) -> None:
        super().__init__(world, cases)
        self._buffer = bytearray()
        self._open = False

    def handshake(self) -> None:
        pinned = self.cases[0].asked.pinned if self.cases else None
        lines = [
            b"GET /v1/responses HTTP/1.1", b"host: gateway", b"connection: Upgrade",
            b"upgrade: websocket", b"sec-websocket-version: 13",
            b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
            b"authorization: Bearer " + self.world.secret_of(self.cases[0]).encode(),
        ]  # fmt: skip
        if pinned is not None:
            lines.append(b"x-latchway-route: " + pinned.encode())
        self.send(b"\r\n".join(lines) + b"\r\n\r\n")

    def request(self, case: Case) -> bytes:
        body = self.world.body_of(case)
        case.prompt_bytes = prompt_bytes(body)
        if self.cases and self.universe.random.random() < 0.3:
            self.universe.after(self.universe.random.choice(THINKING), self.ask_next)
        return frame_of(0x81, body)

    def read(self, data: bytes) -> None:
        self._buffer += data
        if not self._open:
            head, _, rest = self._buffer.partition(b"\r\n\r\n")
            self._open = head.startswith(b"HTTP/1.1 101 ")
            self._buffer = rest
            if self._open:
                self.universe.after(0.0, self.ask_next)
            return
        for opcode, payload in self._frames():
            self._frame(opcode, payload)

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        data, at = bytes(self._buffer), 0
        while at < len(data):
            size, start = data[at + 1], at + 2
            if size == 126:
                (size,), start = unpack_from("!H", data, start), start + 2
            elif size == 127:
                (size,), start = unpack_from("!Q", data, start), start + 8
            yield data[at] & 0x0F, data[start : start + size]
            at = start + size
        self._buffer.clear()

    def _frame(self, opcode: int, payload: bytes) -> None:
        if opcode == 0x1:
            self._message(payload)
        elif opcode == 0x9:
            self.universe.after(0.01, lambda: self.send(frame_of(0x8A, payload)))
        elif opcode == 0x8:
            self.universe.after(0.01, lambda: self._close(payload))

    def _close(self, payload: bytes) -> None:
        self.send(frame_of(0x88, payload[:2]))
        self.universe.after(0.01, lambda: self.leave("fin"))

    def _message(self, text: bytes) -> None:
        if not self.active:
            raise Violation(f"D2: a frame when no turn is active: {text!r}")
        case = self.active[0]
        event = case.hand(text, exact="data")
        if event is None:
            case.told_by_gateway("own error")
            self._check_own(case, json.loads(text))
        if case.ends:
            self.answered(case)

    def _check_own(self, case: Case, message: dict[str, Any]) -> None:
        case.check(message["type"] == "error" and type(message["status"]) is int,
                   "R5: not the shape of an error frame")  # fmt: skip
        case.code = message["error"]["code"]
        case.status = message["status"]


def frame_of(first: int, payload: bytes) -> bytes:
    """A client's frame: masked, with a mask that changes nothing."""
    size = len(payload)
    length = pack("!B", 0x80 | size) if size < 126 else pack("!BH", 0xFE, size)
    return bytes((first,)) + length + bytes(4) + payload
