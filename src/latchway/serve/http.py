"""One client connection over HTTP/1.1: bytes to requests, requests to the app, one at a time.

The parser is llhttp, which refuses what RFC 9112 refuses (two lengths, bare line feeds …); after
any refusal of it the connection closes. A turn's bytes go straight to the transport.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, cast

import httptools

from latchway.ports import Timer
from latchway.serve import answers, limits
from latchway.serve.incoming import Incoming
from latchway.serve.stall import StallWatch
from latchway.wire import errors

if TYPE_CHECKING:
    from latchway.drive import Driver
    from latchway.serve.app import App
    from latchway.serve.stream import HttpClient


class HttpConnection(asyncio.Protocol):
    """A client's connection. `app` decides what a request means."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._incoming: Incoming | None = None
        self._waiting: deque[Incoming] = deque()
        self._client: HttpClient | None = None
        self._driver: Driver | None = None
        self._timer: Timer | None = None
        self._stall: StallWatch | None = None
        self._busy = False
        """A request is being answered."""
        self._head_bytes = 0
        self._task: asyncio.Task[None] | None = None
        self._lingering = False
        """The last answer is written; what still comes in is not read."""

    @property
    def idle(self) -> bool:
        return not self._busy and self._incoming is None

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=limits.WRITE_HIGH_BYTES)
        made = transport.get_extra_info("socket")
        if made is not None and made.family in (socket.AF_INET, socket.AF_INET6):
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stall = StallWatch(
            self.app.clock,
            self.app.settings.limits.write_stall_seconds,
            transport.get_write_buffer_size,
            transport.abort,
        )
        self.app.connections.add(self)
        self._wait(limits.HEADER_SECONDS, self.close)

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse_bytes()
        else:
            self._bound_head(len(data))

    def _bound_head(self, size: int) -> None:
        """A head that is not whole yet may not grow for ever (the parser keeps its parts)."""
        if self._incoming is None or self._incoming.head_done:
            self._head_bytes = 0
            return
        self._head_bytes += size
        if self._head_bytes > limits.HEADER_BYTES:
            self._refuse_bytes()

    def eof_received(self) -> None:
        self._gone()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        self._cancel_timer()
        if self._stall is not None:
            self._stall.stop()
        self.app.connections.discard(self)

    def pause_writing(self) -> None:
        if self._driver is not None:
            self._driver.pause()
        if self._stall is not None:
            self._stall.start()

    def resume_writing(self) -> None:
        if self._stall is not None:
            self._stall.stop()
        if self._driver is not None:
            self._driver.resume()

    # ---- httptools

    def on_message_begin(self) -> None:
        self._incoming = Incoming(self.app.settings.limits.request_bytes)
        if not self._busy:
            self._wait(limits.HEADER_SECONDS, self.close)

    def on_url(self, url: bytes) -> None:
        self._now_incoming.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._now_incoming.on_header(name, value)

    def on_headers_complete(self) -> None:
        incoming = self._now_incoming
        incoming.head_done = True
        incoming.method = self._parser.get_method().decode("latin-1")
        incoming.keep_alive = self._parser.should_keep_alive()
        incoming.http11 = self._parser.get_http_version() == "1.1"
        self.app.look(incoming)
        if self._busy:
            return
        if incoming.expects_continue and incoming.refusal is None:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._wait(limits.BODY_GRACE_SECONDS, self._check_rate)

    def on_body(self, body: bytes) -> None:
        incoming = self._now_incoming
        incoming.on_body(body)
        if incoming.hopeless and not self._lingering:
            self._lingering = True
            incoming.keep_alive = False
            self._start(incoming)

    def on_message_complete(self) -> None:
        incoming = self._now_incoming
        if incoming.upgrade:
            return
        self._incoming = None
        if incoming.hopeless:
            return
        if not self._busy:
            self._start(incoming)
        elif len(self._waiting) < limits.PIPELINED_REQUESTS:
            self._waiting.append(incoming)
        else:
            self.abort()

    @property
    def _now_incoming(self) -> Incoming:
        assert self._incoming is not None
        return self._incoming

    # ---- requests

    def _start(self, incoming: Incoming) -> None:
        """Answer one request whose body is all there (or is hopelessly long)."""
        self._cancel_timer()
        self._busy = True
        self.app.answer(self, incoming)

    def wait_for(self, page: Coroutine[None, None, None]) -> None:
        """Let a page that reads the database be made beside the loop."""
        self._task = asyncio.get_running_loop().create_task(page)

    def turn_begins(self, client: HttpClient, driver: Driver) -> None:
        self._client, self._driver = client, driver
        driver.begin()

    def answer_ended(self, close: bool) -> None:
        """An answer is wholly written: take the next request, or close behind it."""
        self._client = self._driver = None
        self._busy = False
        if self._transport_closed:
            return
        if close or self.app.draining:
            self.close()
        elif self._waiting:
            self._start(self._waiting.popleft())
        else:
            self._wait(limits.IDLE_SECONDS, self.close)

    def _upgrade(self, rest: bytes) -> None:
        incoming, self._incoming = self._now_incoming, None
        self._cancel_timer()
        self.app.upgrade(self, incoming, rest)

    def handed_over(self) -> None:
        """The transport has another protocol from now on: this is no connection any more."""
        self._cancel_timer()
        if self._stall is not None:
            self._stall.stop()
        self.app.connections.discard(self)

    def _refuse_bytes(self) -> None:
        """What came is no HTTP/1.1 request; nothing after it can be understood either."""
        if not self._busy:
            head = answers.error_headers(self.app.new_id(), False, None)
            error = errors.error_object(
                "invalid_request", "The bytes are no HTTP/1.1 request with sound headers."
            )
            body = errors.http_body(error, head[1][1])
            self.write(answers.whole(400, body, head, close=True))
            self.close()
        self._lingering = True

    # ---- the client's side of a turn

    def write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """Close behind what is written, and not wait for ever for it to be taken."""
        self._cancel_timer()
        if self.transport is not None and not self._transport_closed:
            self.transport.close()
            if self._stall is not None:
                self._stall.start()

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    @property
    def _transport_closed(self) -> bool:
        return self.transport is None or self.transport.is_closing()

    def _gone(self) -> None:
        """The client has left: its turn hears of it, and what it asked for next is dropped."""
        self._waiting.clear()
        if self._client is not None and self._driver is not None:
            self._client.gone = True
            self._driver.client_gone()

    # ---- clocks

    def _check_rate(self) -> None:
        """A body must come at a least average rate once its grace is over."""
        incoming = self._incoming
        if incoming is None:
            return
        least = incoming.checks * limits.BODY_GRACE_SECONDS * limits.BODY_BYTES_PER_SECOND
        incoming.checks += 1
        if incoming.received < least:
            self.close()
        else:
            self._wait(limits.BODY_GRACE_SECONDS, self._check_rate)

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._cancel_timer()
        clock = self.app.clock
        self._timer = clock.call_at(clock.time() + seconds, then)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
