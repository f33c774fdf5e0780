"""A WebSocket's side of a connection: frames by `websockets`' sans-IO protocol, on our own wire."""

from __future__ import annotations

from collections.abc import Callable

from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from latchway.lab.calls import Received
from latchway.lab.intake import MAX_BODY_BYTES
from latchway.lab.play import Put, pieces
from latchway.lab.wire import Left, Wire

CLOSE_SECONDS = 5.0
"""How long the other side may take to answer a close frame before the connection is closed."""
DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class Socket:
    """`heard` is called with each whole message. `pong`: are pings answered?"""

    def __init__(self, wire: Wire, heard: Callable[[bytes], None]) -> None:
        self._wire = wire
        self._heard = heard
        self._protocol = ServerProtocol(max_size=MAX_BODY_BYTES)
        self._parts: list[bytes] = []
        self._early: list[bytes] = []
        self._open = False
        self._sending = False
        self.pong = True

    async def accept(self, received: Received) -> bool:
        """Answer the handshake; False: it is faulty and was refused. Raises Left."""
        lines = [f"GET {received.path} HTTP/1.1", *(f"{n}: {v}" for n, v in received.headers)]
        self._protocol.receive_data("\r\n".join([*lines, "", ""]).encode("latin-1"))
        request = next(e for e in self._protocol.events_received() if isinstance(e, Request))
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        await self._send(None)
        self._open = response.status_code == 101
        for data in self._early if self._open else ():
            self.receive(data)
        return self._open

    # ---- what comes

    def receive(self, data: bytes) -> None:
        """Bytes that came; those before the handshake's answer wait for it."""
        if not self._open:
            self._early.append(data)
            return
        self._protocol.receive_data(data)
        pings = closes = False
        for event in self._protocol.events_received():
            assert isinstance(event, Frame)
            pings |= event.opcode is Opcode.PING
            closes |= event.opcode is Opcode.CLOSE
            self._take(event)
        if pings and not (closes or self.pong):
            self._protocol.data_to_send()
        if not self._sending:
            self._flush()
        if closes or self._protocol.parser_exc is not None:
            self._end()

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in DATA:
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            message, self._parts = b"".join(self._parts), []
            self._heard(message)

    def _end(self) -> None:
        close = self._protocol.close_rcvd or Close(1006, "")
        self._wire.leave(f"close {int(close.code)}")
        self._wire.close()

    # ---- what goes

    async def put(self, action: Put, split: int | None) -> None:
        """One message; `split` cuts its frame's bytes into writes. Raises Left."""
        if action.message is None:
            return
        if action.binary:
            self._protocol.send_binary(action.message)
        else:
            self._protocol.send_text(action.message)
        await self._send(split)

    async def ping(self, data: bytes) -> None:
        self._protocol.send_ping(data)
        await self._send(None)

    async def close(self, code: int, reason: str) -> None:
        """A close frame, and a short wait for the other side's."""
        self._wire.ended = True
        self._protocol.send_close(code, reason)
        try:
            await self._send(None)
            await self._wire.wait(CLOSE_SECONDS)
        except Left:
            return
        finally:
            self._wire.close()

    async def _send(self, split: int | None) -> None:
        """No answer to a control frame may come between the pieces of a frame."""
        self._sending = True
        for piece in pieces(b"".join(self._protocol.data_to_send()), split):
            await self._wire.send(piece)
        self._sending = False
        self._flush()

    def _flush(self) -> None:
        data = b"".join(self._protocol.data_to_send())
        if data:
            self._wire.send_soon(data)
