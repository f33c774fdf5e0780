"""One connection to an upstream: an `asyncio.Protocol` that carries one exchange at a time.

It is our own because of law 6: what has arrived must be told before the break that followed it.
Streams that stand between a transport and its reader drop unread bytes on a reset; here bytes are
classified in `data_received`, and when a *write* discovers the break, the socket is emptied first.

Life: dialling, then exchange, idle, exchange …, closed. An exchange ends by itself (`ended`,
`broke`), or its owner ends it (`abort`, `drain`) and hears nothing more.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import Iterator
from typing import Protocol, cast

from latchway.upstreams.faults import EARLY_END, TORN, in_words
from latchway.upstreams.http1 import NOBODY, AnswerReader, Exchange, Head
from latchway.upstreams.limits import Limits

READ_BYTES = 256 << 10
"""Of one read from a lost socket: as much as the event loops take at once."""

WRITE_BUFFER_BYTES = 1
"""In a transport, at which it says so: what it says next is that all has gone, and that is when
a request is sent. Not 0, at which a TLS layer would think itself full while it is empty."""


class Keeper(Protocol):
    """Who keeps idle connections."""

    def made(self, transport: asyncio.BaseTransport) -> None:
        """Each that is new."""

    def keep(self, connection: Connection, said: float | None) -> None:
        """`said`: for how many seconds its server keeps it, if it has said so."""

    def forget(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """See the module. All methods but the protocol's callbacks are safe to call at any time."""

    __slots__ = (
        "_answer", "_begun", "_closed", "_dialling", "_drain_timer", "_exchange", "_keeper",
        "_limits", "_loop", "_paused", "_pieces", "_sent", "_transport", "_writable",
    )  # fmt: skip

    def __init__(self, keeper: Keeper, limits: Limits) -> None:
        self._keeper = keeper
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._drain_timer: asyncio.TimerHandle | None = None
        self._exchange: Exchange = NOBODY
        self._answer: AnswerReader | None = None
        self._pieces: Iterator[bytes | memoryview] | None = None
        self._begun = self._sent = self._paused = self._closed = False
        self._writable = True

    # ---- what its owner asks for

    def start(self, exchange: Exchange, head: bytes, body: bytes) -> None:
        """Send a request and read its answer; on a connection that is new, or idle. An idle one
        writes at once, and says so from within: a round of the loop may be long."""
        self._exchange = exchange
        self._answer = AnswerReader(self._limits.head_bytes)
        self._begun = self._sent = False
        self._pieces = _pieces(head, body, self._limits.write_bytes)
        if self._transport is not None:
            self._begin()

    def dialled_by(self, task: asyncio.Task[None]) -> None:
        """The task that connects; it is cancelled if nobody waits for it any longer."""
        self._dialling = task

    def unreachable(self, fault: Exception) -> None:
        """It could not be connected."""
        self._dialling = None
        self._break(in_words(fault))

    def abort(self) -> None:
        """Close now, unless the answer has just ended by itself."""
        self._exchange = NOBODY
        if self._answer is None or not self._answer.complete:
            self.close()

    def drain(self) -> None:
        """The rest of the answer is not wanted, but the connection is, if it ends soon."""
        self._exchange = NOBODY
        if not self._sent:
            self.close()
        elif self._answer is not None and not self._answer.complete:
            self.resume()
            self._drain_timer = self._loop.call_later(self._limits.drain_seconds, self.close)

    def pause(self) -> None:
        """Read no more; the upstream is slowed down by TCP."""
        if not self._paused and self._transport is not None and not self._gone():
            self._transport.pause_reading()
        self._paused = True

    def resume(self) -> None:
        if self._paused and self._transport is not None and not self._gone():
            self._transport.resume_reading()
        self._paused = False

    def quiet(self) -> bool:
        """Idle, and nothing has come that the loop has not seen yet: neither data nor an end."""
        if self._gone():
            return False
        poll = select.poll()
        poll.register(self._socket().fileno(), select.POLLIN)
        return not poll.poll(0)

    # ---- what the transport tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._dialling = None
        self._transport = cast(asyncio.Transport, transport)
        self._keeper.made(transport)
        if self._closed:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES, low=0)
        self._loop.call_soon(self._begin)

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        if self._begun:
            self._write()

    def data_received(self, data: bytes) -> None:
        """Tell what one read brought. The owner may leave at each step; NOBODY hears the rest."""
        answer = self._answer
        if answer is None:
            self.close()
            return
        body = answer.feed(data)
        head = answer.take_head()
        if head is not None:
            self._stop_writing_if_refused(head)
            self._exchange.head(head)
        if body:
            self._exchange.body(body)
        if answer.fault is not None:
            self._break(answer.fault)
        elif answer.complete:
            self._finish(answer)

    def eof_received(self) -> None:
        self._end_of_input(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._closed:
            return
        if exc is not None:
            self._empty_socket()
        self._end_of_input(exc)

    # ---- writing

    def _begin(self) -> None:
        """Behind `connection_made`, in its own turn of the loop: uvloop reads only then."""
        if self._closed or self._transport is None:
            return
        if self._paused:
            self._transport.pause_reading()
        self._begun = True
        self._exchange.connected()
        self._write()

    def _write(self) -> None:
        """Write while the transport takes it; once it holds nothing more, the request is sent."""
        while self._pieces is not None and self._writable and not self._gone():
            piece = next(self._pieces, None)
            if piece is not None:
                self._write_piece(piece)
            else:
                self._pieces, self._sent = None, True
                self._exchange.sent()

    def _stop_writing_if_refused(self, head: Head) -> None:
        """A refusal that comes early (413, 401 …) is the answer; the rest of the body is not."""
        if head.status >= 300:
            self._pieces = None

    def _write_piece(self, piece: bytes | memoryview) -> None:
        assert self._transport is not None, "nothing is written before connection_made"
        self._transport.write(piece)

    def _gone(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    # ---- reading

    def _finish(self, answer: AnswerReader) -> None:
        """The answer ended cleanly: keep the connection if nothing speaks against it."""
        exchange, self._exchange = self._exchange, NOBODY
        self._leave_answer()
        reusable = answer.reusable and self._sent and not self._gone()
        if self._drain_timer is not None:
            self._drain_timer.cancel()
            self._drain_timer = None
        if reusable:
            self.resume()
            self._keeper.keep(self, answer.kept_seconds)
        else:
            self.close()
        exchange.ended()

    def _leave_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.leave()

    def _break(self, reason: str) -> None:
        exchange, self._exchange = self._exchange, NOBODY
        self.close()
        exchange.broke(reason)

    def _end_of_input(self, exc: Exception | None) -> None:
        answer = self._answer
        if self._closed or answer is None:
            self.close()
        elif exc is None and answer.end_of_input():
            self._finish(answer)
        elif exc is not None:
            self._break(in_words(exc))
        else:
            self._break(TORN if answer.headed else EARLY_END)

    def _empty_socket(self) -> None:
        """A write found the connection broken; read what came before it did (law 6).

        Only in the clear: what a TLS layer had not yet decrypted is lost with it.
        """
        if self._transport is None or self._transport.get_extra_info("sslcontext") is not None:
            return
        left = self._limits.lost_bytes
        while self._answer is not None and not self._closed and left > 0:
            data = _read(self._socket().fileno())
            if not data:
                return
            left -= len(data)
            self.data_received(data)

    # ---- the end

    def close(self) -> None:
        """Close now, whatever goes on. Idempotent; nothing is told."""
        if self._closed:
            return
        self._closed = True
        self._pieces = None
        self._leave_answer()
        self._keeper.forget(self)
        if self._drain_timer is not None:
            self._drain_timer.cancel()
        dialling, self._dialling = self._dialling, None
        if dialling is not None:
            dialling.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _socket(self) -> socket.socket:
        assert self._transport is not None, "a socket is asked for once it is connected"
        return cast(socket.socket, self._transport.get_extra_info("socket"))


def _pieces(head: bytes, body: bytes, size: int) -> Iterator[bytes | memoryview]:
    """The request in writes of about `size` bytes; the first holds the head, for one packet."""
    yield head + body[:size]
    whole = memoryview(body)
    for start in range(size, len(body), size):
        yield whole[start : start + size]


def _read(fd: int) -> bytes:
    """What lies in a socket that its transport reads no more; empty if there is nothing."""
    try:
        return os.read(fd, READ_BYTES)
    except OSError:  # nothing there, or the reset that this is about
        return b""
