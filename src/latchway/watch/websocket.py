"""A turn over a WebSocket: one `response.create`, every message as it came, and how it was closed.

The protocol is the library's sans-IO one, without extensions, so that a message's bytes are those
of the wire.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

import msgspec
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import CloseCode, Opcode
from websockets.frames import Frame as WsFrame
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from latchway.turn import events as on
from latchway.upstreams.answers import reader_for
from latchway.upstreams.faults import EARLY_END, in_words
from latchway.upstreams.headers import USER_AGENT, request_id
from latchway.upstreams.http1 import Head
from latchway.watch.address import Address
from latchway.watch.asking import Asking
from latchway.watch.credential import Credential
from latchway.watch.http import EVENT_BYTES, LIMITS
from latchway.watch.recording import Ending, Recording
from latchway.watch.watcher import Watcher
from latchway.wire.frame import Answer, Frame, Kind
from latchway.wire.meaning import answer_note, frame

CUT = "the upstream closed the connection without a close frame"


class _Wrapped(msgspec.Struct):
    status: int


class SocketCall(asyncio.Protocol):
    """One turn on a socket of its own. The arguments are those of `http.HttpCall`."""

    def __init__(
        self,
        asking: Asking,
        credential: Credential,
        watcher: Watcher,
        recording: Recording,
        changed: Callable[[], None],
    ) -> None:
        self.ended_by_itself = False
        self._asking, self._credential = asking, credential
        self._watcher, self._recording, self._changed = watcher, recording, changed
        self._transport: asyncio.Transport | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._parts = bytearray()
        self._binary = False

    def start(self, address: Address, tls: ssl.SSLContext) -> None:
        """Connect, and send the request; once."""
        self._protocol = ClientProtocol(parse_uri(str(address)), max_size=EVENT_BYTES)
        loop = asyncio.get_running_loop()
        self._dialling = loop.create_task(self._dial(address, tls))

    def close(self) -> None:
        """Nothing more is wanted."""
        if self._dialling is not None:
            self._dialling.cancel()
        if not self.ended_by_itself:
            self._recording.end(Ending.CLEAN if self._watcher.over else Ending.SILENCE)
        if self._transport is not None:
            self._transport.close()

    async def _dial(self, address: Address, tls: ssl.SSLContext) -> None:
        origin = address.origin
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: self,
                origin.host,
                origin.port,
                ssl=tls if origin.secure else None,
                server_hostname=origin.host if origin.secure else None,
            )
        except OSError as fault:
            self._broke(Ending.RESET, in_words(fault))

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._recording.begin()
        request = self._protocol.connect()
        request.headers["User-Agent"] = USER_AGENT
        if self._credential.secret is not None:
            request.headers["Authorization"] = f"Bearer {self._credential.secret}"
        self._protocol.send_request(request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        self._take()

    def eof_received(self) -> None:
        self._protocol.receive_eof()
        self._take()

    def connection_lost(self, exc: Exception | None) -> None:
        opened = self._watcher.report.status is not None
        reason = in_words(exc) if exc else (CUT if opened else EARLY_END)
        self._broke(Ending.CUT if exc is None else Ending.RESET, reason)

    # ---- what came

    def _take(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self._answered(event)
            elif isinstance(event, WsFrame):
                self._frame(event)
        self._look_for_faults()
        if self._watcher.over and self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
        self._flush()
        if self._protocol.close_expected() and self._transport is not None:
            self._transport.close()

    def _look_for_faults(self) -> None:
        """What came is no WebSocket: the protocol reads no further. A bare end is told when the
        connection is lost."""
        shaking, broken = self._protocol.handshake_exc, self._protocol.parser_exc
        if shaking is not None:
            self._broke(Ending.CUT, f"the handshake failed: {shaking}")
        elif broken is not None and not isinstance(broken, EOFError):
            self._broke(Ending.CUT, f"what came is no WebSocket message: {broken}")

    def _answered(self, response: Response) -> None:
        """The handshake's answer; the request goes out behind it, and connecting ends with it. To a
        turn, a socket that is open is what a 200 is: its clocks go on."""
        head = _head_of(response)
        self._watcher.report.content_type = head.content_type or None
        if isinstance(self._protocol.handshake_exc, InvalidStatus):
            self._refusal(head, bytes(response.body))
            return
        self._hear(on.Headed(1, HTTPStatus.OK, request_id(head.headers)))
        self._watcher.report.status = response.status_code
        if self._protocol.state is State.OPEN:
            self._hear(on.Connected(1))
            self._protocol.send_text(self._asking.body)
            self._flush()
            self._recording.begin()
            self._hear(on.Sent(1))

    def _refusal(self, head: Head, body: bytes) -> None:
        """An HTTP answer in place of a socket."""
        self._recording.head(head)
        if body:
            self._recording.piece(body)
        self._recording.end(Ending.CLEAN)
        self.ended_by_itself = True
        self._hear(on.Headed(1, head.status, request_id(head.headers)))
        reader = reader_for(
            head,
            attempt=1,
            streamed=True,
            event_bytes=EVENT_BYTES,
            limits=LIMITS,
            scrub=lambda text: text,
        )
        for event in (*reader.begin(), *reader.feed(body), *reader.end(None)):
            self._hear(event)

    def _broke(self, how: Ending, reason: str) -> None:
        """There will be nothing more; the first reason stands."""
        if not self.ended_by_itself:
            self.ended_by_itself = True
            self._recording.end(how)
            self._hear(on.Broke(1, reason))

    def _frame(self, frame: WsFrame) -> None:
        if frame.opcode is Opcode.PING:
            self._recording.piece(bytes(frame.data), "ping")
        elif frame.opcode is Opcode.CLOSE:
            self._closed()
        elif frame.opcode is not Opcode.PONG:
            if frame.opcode is not Opcode.CONT:
                self._binary = frame.opcode is Opcode.BINARY
            self._parts += frame.data
            if frame.fin:
                message, self._parts = bytes(self._parts), bytearray()
                self._message(message)

    def _message(self, data: bytes) -> None:
        self._recording.piece(data, "binary" if self._binary else "raw")
        if self._watcher.over:
            self._watcher.report.behind += len(data)
        elif self._binary:
            self._watcher.note("a binary message, which is no event")
        else:
            self._event(data)

    def _event(self, data: bytes) -> None:
        """An `error` with a status is an HTTP error in a frame, and ends the attempt (R2)."""
        made = frame(data, b"data: %b\n\n" % data)
        status = _status_of(made)
        if status is None:
            self._hear(on.Arrived(1, (made,)))
        else:
            answer = Answer(status, data, "application/json", (), answer_note(data))
            self._hear(on.Answered(1, answer), (made,))

    def _closed(self) -> None:
        """A close frame came; without a terminal event before it, it is a failure (R2.16)."""
        close = self._protocol.close_rcvd
        assert close is not None, "its frame was read"
        self.ended_by_itself = True
        self._recording.close(close.code, close.reason)
        if close.code == CloseCode.MESSAGE_TOO_BIG:
            note = msgspec.structs.replace(answer_note(b""), code="request_too_large")
            self._hear(on.Answered(1, Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, note=note)))
        self._hear(on.Broke(1, f"the upstream closed the WebSocket: {close}"))

    def _hear(self, event: on.UpstreamEvent, frames: tuple[Frame, ...] = ()) -> None:
        if not self._watcher.over:
            self._watcher.hear(event, frames)
        self._changed()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data and self._transport is not None and not self._transport.is_closing():
                self._transport.write(data)


def _head_of(response: Response) -> Head:
    names = {name.lower() for name in response.headers}
    fields = {name: ", ".join(response.headers.get_all(name)) for name in names}
    return Head(response.status_code, fields)


def _status_of(made: Frame) -> int | None:
    """The status of an `error` that is an HTTP answer wrapped in a frame."""
    if made.kind is not Kind.ERROR:
        return None
    try:
        return msgspec.json.decode(made.data, type=_Wrapped).status
    except msgspec.MsgspecError:
        return None
