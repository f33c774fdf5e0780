"""One client connection over WebSocket: turns one after another, and its own age (R8).

Handshake, control frames and the reading of messages are the `websockets` library's sans-IO
protocol; the frames of events are written straight to the transport, joined.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from websockets.datastructures import Headers
from websockets.exceptions import InvalidState
from websockets.frames import Frame as WsFrame
from websockets.frames import Opcode
from websockets.http11 import Request as Handshake
from websockets.protocol import State
from websockets.server import ServerProtocol

from latchway.books import Asked
from latchway.ports import Timer
from latchway.serve import limits, plain
from latchway.serve.creates import Create, Sort, refusal, sort_message, steer_failed
from latchway.serve.frames import text_frames
from latchway.serve.socket_turn import SocketClient
from latchway.serve.stall import StallWatch
from latchway.turn import commands as do
from latchway.wire.request import RequestFault

if TYPE_CHECKING:
    from latchway.drive import Driver
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection
    from latchway.serve.incoming import Incoming

GOING_AWAY, POLICY, RESTART, INVALID_TEXT = 1001, 1008, 1012, 1007
AGE_CODE = "websocket_connection_limit_reached"
MINUTE = 60.0


def open_socket(app: App, connection: HttpConnection, incoming: Incoming, rest: bytes) -> None:
    """Answer the handshake; from there on the connection is a WebSocket."""
    asked = Handshake(incoming.url.decode("latin-1"), _headers(incoming))
    response = ServerProtocol().accept(asked)
    if response.status_code != 101:
        incoming.refuse("invalid_request", f"No WebSocket handshake: {response.reason_phrase}.")
        incoming.keep_alive = False
        plain.refuse(app, connection, incoming)
        return
    response.headers["x-request-id"] = app.new_id()
    connection.write(response.serialize())
    SocketConnection(app, incoming, connection).start(rest)


def _headers(incoming: Incoming) -> Headers:
    return Headers(incoming.headers.items())


class SocketConnection(asyncio.Protocol):
    """A client's WebSocket. One active turn; creates that come meanwhile wait, up to a bound."""

    def __init__(self, app: App, incoming: Incoming, http: HttpConnection) -> None:
        assert incoming.key is not None
        assert http.transport is not None
        self.app, self._key = app, incoming.key
        self._protocol = ServerProtocol(
            state=State.OPEN, max_size=app.settings.websocket.max_message_bytes
        )
        self._headers = incoming.headers
        self.transport = http.transport
        self._http = http
        self._queue: deque[Create] = deque()
        self._queued_bytes = 0
        self._parts: list[bytes] = []
        self._client: SocketClient | None = None
        self._driver: Driver | None = None
        self._heard = app.clock.time()
        self._too_old = False
        self._draining = False
        self._timers: dict[str, Timer] = {}
        self._stall = StallWatch(
            app.clock,
            app.settings.limits.write_stall_seconds,
            self.transport.get_write_buffer_size,
            self.transport.abort,
        )

    def start(self, rest: bytes) -> None:
        self._http.handed_over()
        self.transport.set_protocol(self)
        self.app.sockets.add(self)
        self.app.ports.metrics.socket_opened()
        self._after("ping", limits.PING_SECONDS, self._ping)
        age = self.app.settings.websocket.max_minutes * MINUTE
        self._after("age", age, self._grow_old)
        if rest:
            self.data_received(rest)

    # ---- asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        self._heard = self.app.clock.time()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            assert isinstance(event, WsFrame)
            self._frame(event)
        self._flush()
        if self._protocol.close_expected() or self._protocol.state is not State.OPEN:
            self._closing()

    def eof_received(self) -> None:
        self._protocol.receive_eof()
        self._gone()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        self._stall.stop()
        for timer in self._timers.values():
            timer.cancel()
        if self in self.app.sockets:
            self.app.sockets.discard(self)
            self.app.ports.metrics.socket_closed()

    def pause_writing(self) -> None:
        if self._driver is not None:
            self._driver.pause()
        self._stall.start()

    def resume_writing(self) -> None:
        self._stall.stop()
        if self._driver is not None:
            self._driver.resume()

    # ---- messages

    def _frame(self, frame: WsFrame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                message, self._parts = b"".join(self._parts), []
                self._message(message)
        elif frame.opcode is Opcode.BINARY:
            fault = RequestFault("invalid_request", "Binary frames are not taken; send text.")
            self._refuse_now(fault)

    def _message(self, message: bytes) -> None:
        try:
            message.decode()
        except UnicodeDecodeError:
            self._protocol.fail(INVALID_TEXT, "text is not UTF-8")
            return
        sort, fault, stream_id = sort_message(message, self.app.settings.limits.request_bytes)
        if sort is Sort.CREATE:
            self._queue_up(Create(message, fault, stream_id))
        elif sort is Sort.STEER:
            self._write_message(steer_failed(message))
        elif fault is not None:
            self._refuse_now(fault, stream_id)

    def _queue_up(self, create: Create) -> None:
        """Begin it, or let it wait; beyond the bound the create is refused, the active goes on."""
        if self._driver is None and not self._queue:
            self._begin(create)
            return
        settings = self.app.settings
        room = len(self._queue) < settings.websocket.queue
        if not room or self._queued_bytes + create.size > settings.limits.request_bytes:
            self._refuse_now(RequestFault("rate_limit_exceeded", "The queue is full."))
            return
        self._queue.append(create)
        self._queued_bytes += create.size

    def _next(self) -> None:
        """The active turn is over: begin the next create, or see what an idle socket is due."""
        self._client = self._driver = None
        while self._queue and self._driver is None and self._open:
            create = self._queue.popleft()
            self._queued_bytes -= create.size
            self._begin(create)
        if self._driver is None and self._open:
            self._idle()

    def _idle(self) -> None:
        if self._draining:
            self._close(RESTART, "shutting_down")
        elif self._too_old:
            self._close(GOING_AWAY, AGE_CODE)

    def _begin(self, create: Create) -> None:
        """Begin a create's turn, or refuse it in its turn."""
        app, request_id = self.app, self.app.new_id()
        if not app.keys.valid(self._key.name):
            self._refuse(request_id, RequestFault("invalid_api_key", ""), close=POLICY)
            return
        if self._too_old:
            self._refuse(request_id, RequestFault(AGE_CODE, ""), create.stream_id, close=POLICY)
            return
        barred = app.barred(self._key)
        try:
            if create.fault is not None:
                raise create.fault
            request = app.read(create.message, self._headers, websocket=True)
        except RequestFault as fault:
            self._refuse(request_id, fault, create.stream_id)
            return
        client = SocketClient(self, request_id)
        if barred is not None:
            client.fail(barred)
            app.log_refusal(request_id, self._key, request, barred, websocket=True)
            return
        self._client = client
        self._driver = app.turn(Asked(request_id, request, self._key), client, self._next)
        self._driver.begin()

    # ---- refusals

    def _refuse_now(self, fault: RequestFault, stream_id: str | None = None) -> None:
        self._refuse(self.app.new_id(), fault, stream_id)

    def _refuse(
        self,
        request_id: str,
        fault: RequestFault,
        stream_id: str | None = None,
        close: int | None = None,
    ) -> None:
        """One `error` frame; the connection stays unless `close` is a code."""
        fail = do.Fail(fault.code, None, True, param=fault.param, message=str(fault) or None)
        self._write_message(refusal(fail, request_id, stream_id))
        self.app.log_refusal(request_id, self._key, None, fail, websocket=True)
        if close is not None:
            self._queue.clear()
            self._close(close, fault.code)

    # ---- age and end

    def _grow_old(self) -> None:
        """60 minutes: no new turn starts; the one in flight has its grace (R8)."""
        self._too_old = True
        if self._driver is None:
            self._idle()
        else:
            grace = self.app.settings.websocket.grace_minutes * MINUTE
            self._after("grace", grace, self._end_grace)

    def _end_grace(self) -> None:
        self._queue.clear()
        if self._driver is not None:
            self._driver.stop(AGE_CODE)
        self._after("age_close", 0.0, lambda: self._close_when_ended(POLICY, AGE_CODE))

    def _close_when_ended(self, code: int, reason: str) -> None:
        if self._driver is None:
            self._close(code, reason)

    def drain(self) -> None:
        """The gateway shuts down: an idle socket closes now, a busy one when its turn is over."""
        self._draining = True
        if self._driver is None:
            self._idle()

    def _close(self, code: int, reason: str) -> None:
        if self._open:
            self._protocol.send_close(code, reason)
            self._flush()
            self._after("close", limits.CLOSE_SECONDS, self.transport.abort)

    def _closing(self) -> None:
        """Either side has begun to close: nobody waits for a turn any more."""
        self._gone()
        self._after("close", limits.CLOSE_SECONDS, self.transport.abort)

    def _gone(self) -> None:
        self._queue.clear()
        if self._client is not None and self._driver is not None:
            self._client.gone = True
            self._driver.client_gone()

    @property
    def _open(self) -> bool:
        return self._protocol.state is State.OPEN and not self.transport.is_closing()

    # ---- bytes

    def write(self, data: bytes) -> None:
        """Frames of events, ready made; nothing after a close frame."""
        if self._open:
            self.transport.write(data)

    def _write_message(self, message: bytes) -> None:
        self.write(text_frames([message]))

    def _flush(self) -> None:
        """Send what the library has to send; its empty piece means: end of the connection."""
        for data in self._protocol.data_to_send():
            if data:
                self.transport.write(data)
            else:
                self.transport.close()

    # ---- clocks

    def _ping(self) -> None:
        """Both a sign of life for proxies and a question; a busy peer need not answer."""
        silent = self.app.clock.time() - self._heard
        if self._driver is None and silent > limits.PONG_SECONDS:
            self.transport.abort()
            return
        try:
            self._protocol.send_ping(b"")
        except InvalidState:
            return
        self._after("ping", limits.PING_SECONDS, self._ping)

    def _after(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        self._timers[name] = self.app.clock.call_at(self.app.clock.time() + seconds, then)
