"""One client connection over WebSocket: turns one after another, and its own age (R8).

Control frames and the reading of frames are the `websockets` library's sans-IO protocol; the
frames of events are written straight to the transport, joined.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from websockets.frames import Frame as WsFrame
from websockets.protocol import State
from websockets.server import ServerProtocol

from latchway.books import Asked
from latchway.serve import limits
from latchway.serve.creates import Create, Queue, Sort, refusal, sort_message, steer_failed
from latchway.serve.frames import text_frames
from latchway.serve.messages import Message, Messages
from latchway.serve.socket_turn import SocketClient
from latchway.serve.stall import StallWatch
from latchway.serve.timers import Timers
from latchway.turn import commands as do
from latchway.wire.request import RequestFault

if TYPE_CHECKING:
    from latchway.drive import Driver
    from latchway.serve.app import App
    from latchway.serve.incoming import Incoming

GOING_AWAY, POLICY, RESTART, INVALID_TEXT = 1001, 1008, 1012, 1007
AGE_CODE = "websocket_connection_limit_reached"
MINUTE = 60.0


class SocketConnection(asyncio.Protocol):
    """A client's WebSocket. One active turn; creates that come meanwhile wait, up to a bound."""

    __slots__ = (
        "_client", "_draining", "_driver", "_grace_over", "_headers", "_heard", "_key",
        "_messages", "_protocol", "_queue", "_slow", "_stall", "_timers", "_too_old", "_unsent",
        "app", "transport",
    )  # fmt: skip

    def __init__(self, app: App, incoming: Incoming, transport: asyncio.Transport) -> None:
        assert incoming.key is not None
        self.app, self._key = app, incoming.key
        settings = app.settings
        self._protocol = ServerProtocol(
            state=State.OPEN, max_size=settings.websocket.max_message_bytes
        )
        self._headers = app.headers_of_turns(incoming.headers)
        self.transport = transport
        self._queue = Queue(settings.websocket.queue, settings.websocket.max_message_bytes)
        self._messages = Messages()
        self._client: SocketClient | None = None
        self._driver: Driver | None = None
        self._heard = app.clock.time()
        self._too_old = False
        self._grace_over = False
        self._draining = False
        self._slow = False
        """The client does not take what is written as fast as it comes."""
        self._unsent = 0
        """While it closes: what waited to be taken at the last look, and one."""
        self._timers = Timers(app.clock)
        self._stall = StallWatch(app.clock, settings.limits.write_stall_seconds, transport)

    def start(self, rest: bytes) -> None:
        self.transport.set_protocol(self)
        self.app.sockets.add(self)
        self.app.ports.metrics.socket_opened()
        self._timers.after("ping", limits.PING_SECONDS, self._ping)
        age = self.app.settings.websocket.max_minutes * MINUTE
        self._timers.after("age", age, self._grow_old)
        if rest:
            self.data_received(rest)

    # ---- asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        self._heard = self.app.clock.time()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            assert isinstance(event, WsFrame)
            message = self._messages.feed(event)
            if message is not None and self._open:
                self._message(message)
        self._flush()
        if not self._open:
            self._closing()

    def eof_received(self) -> None:
        """It says nothing more. What waits to be taken is not kept for it for ever."""
        self._protocol.receive_eof()
        self._closing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        self._stall.stop()
        self._timers.stop()
        if self in self.app.sockets:
            self.app.sockets.discard(self)
            self.app.connection_ended()
            self.app.ports.metrics.socket_closed()

    def pause_writing(self) -> None:
        """Nothing more is read of a client that does not take its answers: there would be no end
        of the pongs and refusals that it could ask for."""
        self._slow = True
        self.transport.pause_reading()
        if self._driver is not None:
            self._driver.pause()
        self._stall.start()

    def resume_writing(self) -> None:
        self._slow = False
        self._heard = self.app.clock.time()
        self._stall.stop()
        if self._driver is not None:
            self._driver.resume()
        self.transport.resume_reading()

    # ---- messages

    def _message(self, message: Message) -> None:
        if message.binary:
            self._refuse(RequestFault("invalid_request", "Binary frames are not taken."))
            return
        try:
            message.data.decode()
        except UnicodeDecodeError:
            self._protocol.fail(INVALID_TEXT, "text is not UTF-8")
            return
        self._sort(message.data)

    def _sort(self, message: bytes) -> None:
        sort, fault, stream_id = sort_message(message, self.app.settings.limits.request_bytes)
        if sort is Sort.CREATE:
            self._queue_up(Create(b"" if fault else message, fault, stream_id))
        elif sort is Sort.STEER:
            self._write_message(steer_failed(message, stream_id))
        elif fault is not None:
            self._refuse(fault, stream_id)

    def _queue_up(self, create: Create) -> None:
        """Begin it, or let it wait; beyond the bound the create is refused, the active goes on."""
        if self._driver is None:
            self._begin(create)
        elif not self._queue.put(create):
            self._refuse(RequestFault("rate_limit_exceeded", "The queue is full."))

    def _next(self) -> None:
        """The active turn is over: begin the next create, or see what an idle socket is due."""
        self._client = self._driver = None
        while self._driver is None and self._open:
            create = self._queue.take()
            if create is None:
                self._idle()
                return
            self._begin(create)

    def _idle(self) -> None:
        if self._draining:
            self._close(RESTART, "shutting_down")
        elif self._too_old:
            self._close(POLICY if self._grace_over else GOING_AWAY, AGE_CODE)

    def _begin(self, create: Create) -> None:
        """Begin a create's turn, or refuse it in its turn."""
        app = self.app
        if not app.keys.valid(self._key.name):
            self._refuse(RequestFault("invalid_api_key", ""), create.stream_id, close=POLICY)
            return
        if self._too_old:
            self._refuse(RequestFault(AGE_CODE, ""), create.stream_id, close=POLICY)
            return
        barred = app.barred(self._key)
        if create.fault is not None:
            self._refuse(create.fault, create.stream_id)
            return
        try:
            request = app.read(create.message, self._headers, websocket=True)
        except RequestFault as fault:
            self._refuse(fault, create.stream_id)
            return
        request_id = app.new_id()
        client = SocketClient(self, request_id)
        if barred is not None:
            client.fail(barred)
            app.log_refusal(request_id, self._key, request, barred, websocket=True)
            return
        self._client = client
        self._driver = driver = app.turn(Asked(request_id, request, self._key), client, self._next)
        if self._slow:
            driver.pause()
        driver.begin()

    def _refuse(
        self, fault: RequestFault, stream_id: str | None = None, close: int | None = None
    ) -> None:
        """One `error` frame; the connection stays unless `close` is a code."""
        request_id = self.app.new_id()
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
            self._timers.after("grace", grace, self._end_grace)

    def _end_grace(self) -> None:
        self._grace_over = True
        if self._driver is not None:
            self._driver.stop(AGE_CODE)

    def drain(self) -> None:
        """The gateway shuts down: an idle socket closes now, a busy one when its turn is over."""
        self._draining = True
        if self._driver is None:
            self._idle()

    def _close(self, code: int, reason: str) -> None:
        if self._open:
            self._protocol.send_close(code, reason)
            self._flush()
            self._closing()

    def _closing(self) -> None:
        """Either side has begun to close: nobody waits for a turn any more."""
        self._gone()
        if not self._unsent:
            self._unsent = self.transport.get_write_buffer_size() + 1
            self._timers.after("close", limits.CLOSE_SECONDS, self._cut_off)

    def _cut_off(self) -> None:
        """Nobody answers the close in time; but what the client is still taking, it may take."""
        unsent = self.transport.get_write_buffer_size()
        if 0 < unsent < self._unsent:
            self._unsent = unsent
            self._timers.after("close", limits.CLOSE_SECONDS, self._cut_off)
        else:
            self.transport.abort()

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
        """Send what the library has to send; its empty piece means: nothing more. Who broke the
        protocol may still be sending: what comes is read away until it is cut off, for a close
        over unread bytes is a reset, which can overtake the close code."""
        for data in self._protocol.data_to_send():
            if data:
                self.transport.write(data)
            elif self._protocol.close_rcvd is not None:
                self.transport.close()
            elif self.transport.can_write_eof():
                self.transport.write_eof()

    # ---- clocks

    def _ping(self) -> None:
        """Both a sign of life for proxies and a question; a busy peer need not answer."""
        silent = self.app.clock.time() - self._heard
        if self._driver is None and not self._slow and silent > limits.PONG_SECONDS:
            self.transport.abort()
        elif self._open:
            self._protocol.send_ping(b"")
            self._flush()
            self._timers.after("ping", limits.PING_SECONDS, self._ping)
