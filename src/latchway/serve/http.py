"""One client connection over HTTP/1.1: requests to the app, one at a time, and its clocks.

A turn's bytes go straight to the transport. After a request that cannot be understood, or whose
body is not waited for, the connection closes behind the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, cast

from latchway.alarm import Alarm
from latchway.serve import limits
from latchway.serve.incoming import Incoming
from latchway.serve.reading import RequestReader
from latchway.serve.stall import StallWatch

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.stream import HttpClient

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

log = logging.getLogger("latchway.http")


class Answering(Protocol):
    """What writes a long answer: a turn's driver, or a response that is told again."""

    def begin(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def client_gone(self) -> None: ...
    def stop(self, code: str) -> None: ...


class HttpConnection(asyncio.Protocol):
    """A client's connection. `app` decides what a request means."""

    __slots__ = (
        "_alarm", "_busy", "_client", "_clock_is_due", "_driver", "_reader", "_slow",
        "_stall", "_task", "_waiting", "app", "transport",
    )  # fmt: skip

    def __init__(self, app: App) -> None:
        self.app = app
        self.transport: asyncio.Transport | None = None
        self._reader = RequestReader(self, app.settings.limits.request_bytes)
        self._waiting: list[Incoming] = []
        self._client: HttpClient | None = None
        self._driver: Answering | None = None
        self._alarm = Alarm(app.clock)
        self._clock_is_due = False
        """What comes next has begun in this read; its clock is set if the read does not end it."""
        self._stall: StallWatch | None = None
        self._busy = False
        """A request is being answered."""
        self._slow = False
        """The client does not take what is written as fast as it comes."""
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._busy and self._reader.incoming is None

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        transport.set_write_buffer_limits(high=limits.WRITE_HIGH_BYTES)
        patience = self.app.settings.limits.write_stall_seconds
        self._stall = StallWatch(self.app.clock, patience, transport)
        self.app.connections.add(self)
        self.app.files.taken(transport)
        self._wait(limits.HEADER_SECONDS, self.close)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        if self._clock_is_due:
            self._await()

    def eof_received(self) -> None:
        """It asks for nothing more. What waits to be taken is not kept for it for ever."""
        self._gone()
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        self._leave_app()

    def pause_writing(self) -> None:
        self._slow = True
        if self._driver is not None:
            self._driver.pause()
        if self._stall is not None:
            self._stall.start()

    def resume_writing(self) -> None:
        self._slow = False
        if self._stall is not None and not self._transport_closed:  # else it waits for the end
            self._stall.stop()
        if self._driver is not None:
            self._driver.resume()

    # ---- reading.Listener

    def on_begin(self) -> None:
        self._clock_is_due = not self._busy

    def on_head(self, incoming: Incoming) -> None:
        self.app.look(incoming)
        if incoming.unframed or (incoming.expects_continue and incoming.refusal is not None):
            self._give_up(incoming)
        elif not self._busy:
            self._clock_is_due = True
            self._invite(incoming)

    def on_hopeless(self, incoming: Incoming) -> None:
        self._give_up(incoming)

    def on_request(self, incoming: Incoming) -> None:
        """Answer it now, or in its turn; a client that sends more than may wait is cut off."""
        if not self._busy:
            self._start(incoming)
        elif self._has_room(incoming):
            self._waiting.append(incoming)
        else:
            self.abort()

    def on_upgrade(self, incoming: Incoming, rest: bytes) -> None:
        if self._busy:
            self.on_unreadable("invalid_request", "No upgrade while a request is answered.")
        else:
            self._call_off()
            self.app.upgrade(self, incoming, rest)

    def on_unreadable(self, code: str, message: str | None) -> None:
        refused = Incoming(0)
        refused.refuse(code, message)
        self._give_up(refused)

    def on_fault(self, fault: BaseException) -> None:
        """Law 10: whether a request was read or a page was made, it ends this connection alone."""
        log.error("fault in a request", exc_info=fault)
        self._busy = self._driver is not None
        if not self._busy:  # it is told instead of all that waited behind it
            self._waiting.clear()
            self._reader.stopped = False
        self.on_unreadable("internal_error", None)

    # ---- requests

    def _has_room(self, incoming: Incoming) -> bool:
        kept = sum(each.kept_bytes for each in self._waiting) + incoming.kept_bytes
        return (
            len(self._waiting) < limits.PIPELINED_REQUESTS
            and kept <= self.app.settings.limits.request_bytes
        )

    def _give_up(self, incoming: Incoming) -> None:
        """Read no further: answer it, and close behind the answer."""
        if not self._reader.stopped:
            self._reader.stopped = True
            incoming.keep_alive = False
            self.on_request(incoming)

    def _start(self, incoming: Incoming) -> None:
        """Answer one request whose body is all there, or is given up."""
        self._call_off()
        self._busy = True
        self.app.answer(self, incoming)

    def wait_for(self, page: Coroutine[None, None, None]) -> None:
        """Let a page that reads the database be made beside the loop."""
        self._task = asyncio.get_running_loop().create_task(page)
        self._task.add_done_callback(self._page_made)

    def _page_made(self, task: asyncio.Task[None]) -> None:
        if self._task is task:  # else the next page is being made already
            self._task = None
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            self.on_fault(fault)

    def turn_begins(self, client: HttpClient, driver: Answering) -> None:
        self._client, self._driver = client, driver
        if self._slow:
            driver.pause()
        driver.begin()

    def turn_ended(self) -> None:
        assert self._client is not None
        self.answer_ended(self._client.close)

    def answer_ended(self, close: bool) -> None:
        """An answer is wholly written: take the next request, or close behind it."""
        self._client = self._driver = None
        self._busy = False
        if self._transport_closed:
            return
        if close or self.app.draining:
            self._part()
        elif self._waiting:
            self._start(self._waiting.pop(0))
        else:
            self._await()

    def _part(self) -> None:
        """Close behind the last answer. What the client may still be sending is read away first: a
        close over unread bytes is a reset, which can overtake the answer (RFC 9112 9.6)."""
        if not self._reader.stopped:
            self.close()
            return
        if self.transport is not None and self.transport.can_write_eof():
            self.transport.write_eof()
        self._wait(limits.CLOSE_SECONDS, self.close)

    def handed_over(self) -> None:
        """The transport has another protocol from now on: this is no connection any more."""
        self._leave_app()

    # ---- the client's side of a turn

    def write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """Close behind what is written, and not wait for ever for it to be taken."""
        self._call_off()
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
        """The client has left: its turn hears of it, and nobody waits for its page. What it asked
        for next is never begun, for the transport is closed by then."""
        if self._client is not None and self._driver is not None:
            self._client.gone = True
            self._driver.client_gone()
        if self._task is not None:
            self._task.cancel()

    def _leave_app(self) -> None:
        self._alarm.stop()
        if self._stall is not None:
            self._stall.stop()
        self._reader.leave()
        self.app.connections.discard(self)
        self.app.connection_ended()

    # ---- clocks

    def _await(self) -> None:
        """Set the clock of what comes next: a request, the rest of its head, its body."""
        incoming = self._reader.incoming
        if incoming is None:
            self._wait(limits.IDLE_SECONDS, self.close)
        elif not incoming.head_done:
            self._wait(limits.HEADER_SECONDS, self.close)
        else:
            self._invite(incoming)
            self._wait(limits.BODY_GRACE_SECONDS, self._check_rate)

    def _invite(self, incoming: Incoming) -> None:
        """A client may wait to be told that its body is wanted (RFC 9110 10.1.1); once."""
        if incoming.expects_continue and not incoming.invited and not incoming.received:
            incoming.invited = True
            self.write(CONTINUE)

    def _check_rate(self) -> None:
        """A body must come at a least average rate once its grace is over."""
        incoming = self._reader.incoming
        if incoming is None:
            return
        least = incoming.checks * limits.BODY_GRACE_SECONDS * limits.BODY_BYTES_PER_SECOND
        incoming.checks += 1
        if incoming.received < least:
            self.close()
        else:
            self._wait(limits.BODY_GRACE_SECONDS, self._check_rate)

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._clock_is_due = False
        self._alarm.set(seconds, then)

    def _call_off(self) -> None:
        self._clock_is_due = False
        self._alarm.clear()
