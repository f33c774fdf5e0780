"""A transport in memory: what is written stays to be looked at, and the peer may be slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from harness.clock import VirtualClock


class MemoryTransport(asyncio.Transport):
    """The server's end of a connection. The test is the peer.

    `taken`: all that the peer has read. While `slow`, the peer takes nothing by itself; `take`
    reads for it.
    """

    def __init__(self, clock: VirtualClock, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._clock, self._protocol = clock, protocol
        self.taken = bytearray()
        self.slow = False
        self.reading = True
        self.reset = False
        """The server cut the connection off."""
        self.eof_written = False
        self.lost = False
        self._unsent = bytearray()
        self._unread: list[Callable[[], object]] = []
        self._high = 64 << 10
        self._paused = False
        self._closing = False

    # ---- the peer

    def send(self, data: bytes) -> None:
        """The peer sends; the server hears of it when it reads."""
        self._tell(lambda: self._protocol.data_received(data))

    def finish(self) -> None:
        """The peer's FIN: asyncio closes the connection, unless the protocol keeps it open."""
        self._tell(self._finish)

    def leave(self) -> None:
        """The peer is gone at once (RST)."""
        if not self.lost:
            self._lose(ConnectionResetError())

    def take(self, size: int | None = None) -> None:
        """The peer reads some of what waits for it, or all."""
        size = len(self._unsent) if size is None else size
        self.taken += self._unsent[:size]
        del self._unsent[:size]
        if self._paused and len(self._unsent) <= self._high // 4:
            self._paused = False
            self._protocol.resume_writing()
        if self._closing and not self._unsent:
            self._clock.soon(lambda: self._lose(None))

    def _finish(self) -> None:
        if not self._protocol.eof_received():
            self.close()

    def _tell(self, event: Callable[[], object]) -> None:
        if self.lost or self._closing:
            return
        if self.reading:
            event()
        else:
            self._unread.append(event)

    # ---- asyncio.Transport

    def write(self, data: Any) -> None:
        if self._closing or self.lost or self.eof_written:
            return
        self._unsent += data
        if not self.slow:
            self.take()
        elif len(self._unsent) > self._high and not self._paused:
            self._paused = True
            self._protocol.pause_writing()

    def write_eof(self) -> None:
        self.eof_written = True

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        if not self._unsent:
            self._clock.soon(lambda: self._lose(None))

    def abort(self) -> None:
        if self.lost:
            return
        self._closing = self.reset = True
        self._unsent.clear()
        self._clock.soon(lambda: self._lose(None))

    def is_closing(self) -> bool:
        return self._closing or self.lost

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True
        while self._unread and self.reading:
            self._tell(self._unread.pop(0))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = self._high if high is None else high

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def _lose(self, why: Exception | None) -> None:
        if self.lost:
            return
        self.lost = self._closing = True
        self._unsent.clear()
        self._protocol.connection_lost(why)
