"""The network between the gateway and everybody else: sockets, their buffers, and how they break.

A `Wire` is the gateway's end of one connection. What has arrived lies in its kernel buffer until
the loop reads it; a reset is found behind what had arrived before it, unless a write finds it
first; what the other side does not take stays in the transport.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

from sim.universe import Process

READ_BYTES = 256 << 10
"""Of one read, as asyncio and uvloop do it."""


class Peer(Protocol):
    """The other end."""

    def handed(self, data: bytes) -> None:
        """The gateway has handed bytes to its transport."""

    def sent(self, data: bytes) -> None:
        """Bytes have left the gateway's transport."""

    def hung_up(self, reset: bool) -> None:
        """The gateway's end is gone."""


class Wire(asyncio.Transport):
    """See the module. `window`: bytes that the other side will still take; None: all."""

    def __init__(self, process: Process, peer: Peer, kernel: Kernel | None = None) -> None:
        super().__init__()
        self._process, self.peer = process, peer
        self.fd = kernel.add(self) if kernel is not None else -1
        self._protocol: Any = None
        self.window: int | None = None
        self.high: int | None = None
        """Bytes, in place of what the protocol sets: so that little data shows much."""
        self.unread = bytearray()
        self._fin = self._fin_told = self._rst = False
        self._unsent = bytearray()
        self.began = self.held = False
        self._high, self._low = 64 << 10, 16 << 10
        self.paused = self._closing = self._eof = self._polled = False
        self.over = self.lost = False
        """Closed by us or found broken; and its protocol knows."""

    # ---- what arrives

    def arrive(self, data: bytes) -> None:
        if not (self.over or self._rst):
            self.unread += data
            self._wake()

    def arrive_fin(self) -> None:
        self._fin = True
        self._wake()

    def arrive_rst(self) -> None:
        self._rst = True
        self._wake()

    def take(self, size: int) -> None:
        """The other side takes so many bytes more."""
        if self.window is not None:
            self.window += size
            if self._unsent:
                self._wake()

    def take_all(self) -> None:
        """From now on the other side takes whatever comes."""
        self.window = None
        if self._unsent:
            self._wake()

    @property
    def readable(self) -> bool:
        return bool(self.unread) or self._fin or self._rst

    @property
    def untold(self) -> bool:
        """Has something arrived that the protocol has not been told?"""
        if self.lost:
            return False
        return bool(self.unread) or self._rst or (self._fin and not self._fin_told)

    def _wake(self) -> None:
        if not self._polled and self.began and not self.over:
            self._polled = True
            self._process.poll_soon(self)

    # ---- the loop's side

    def begin(self) -> None:
        """The loop takes the connection up; it reads one round later."""
        self._protocol.connection_made(self)
        self._process.call_soon(self._begin_reading)

    def _begin_reading(self) -> None:
        self.began = True
        if self.readable or self._unsent:
            self._wake()

    def poll(self) -> None:
        self._polled = False
        if self.over:
            return
        if self._reads and self.readable:
            self._read()
        if self._unsent and not self.over:
            self._flush()
        if self._reads and (self.unread or self._rst or (self._fin and not self._fin_told)):
            self._wake()

    @property
    def _reads(self) -> bool:
        return not self.held and not self._closing

    def _read(self) -> None:
        if self.unread:
            data = bytes(self.unread[:READ_BYTES])
            del self.unread[: len(data)]
            self._protocol.data_received(data)
        elif self._rst:
            self._force_close(ConnectionResetError(errno.ECONNRESET, "reset"))
        elif not self._fin_told:
            self._fin_told = True
            if not self._protocol.eof_received():
                self.close()

    def _flush(self) -> None:
        if self._rst:
            self._force_close(BrokenPipeError(errno.EPIPE, "broken"))
            return
        size = len(self._unsent) if self.window is None else min(self.window, len(self._unsent))
        self._send(bytes(self._unsent[:size]))
        del self._unsent[:size]
        if self.paused and len(self._unsent) <= self._low:
            self.paused = False
            self._protocol.resume_writing()
        if self._closing and not self._unsent:
            self._end(None)

    def _send(self, data: bytes) -> None:
        if self.window is not None:
            self.window -= len(data)
        if data:
            self.peer.sent(data)

    # ---- asyncio.Transport

    def write(self, data: Any) -> None:
        if self.over or self._eof or not data:
            return
        data = bytes(data)
        self.peer.handed(data)
        if self._rst and not self._unsent:
            self._force_close(BrokenPipeError(errno.EPIPE, "broken"))
            return
        if not self._unsent:
            size = len(data) if self.window is None else min(self.window, len(data))
            self._send(data[:size])
            data = data[size:]
        self._unsent += data
        if len(self._unsent) > self._high and not self.paused:
            self.paused = True
            self._protocol.pause_writing()

    def write_eof(self) -> None:
        self._eof = True

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        if not self._unsent:
            self._end(None)

    def abort(self) -> None:
        self._force_close(None, reset=True)

    def _force_close(self, why: Exception | None, reset: bool = False) -> None:
        if not self.over:
            self._unsent.clear()
            self._closing = True
            self._end(why, reset=reset)

    def _end(self, why: Exception | None, reset: bool = False) -> None:
        self.over = True
        self._process.call_soon(self._lose, why)
        self.peer.hung_up(reset)

    def _lose(self, why: Exception | None) -> None:
        self.lost = True
        self._protocol.connection_lost(why)

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        self.held = True

    def resume_reading(self) -> None:
        self.held = False
        if self.readable:
            self._wake()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        asked = 64 << 10 if high is None else high
        self._high = asked if self.high is None else min(asked, self.high)
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self if name == "socket" and self.fd >= 0 else default

    # ---- what stands for the socket

    family = -1

    def fileno(self) -> int:
        return self.fd

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Nagle's algorithm is not simulated."""


class Kernel:
    """File descriptors, for what the gateway asks of the kernel behind the loop's back."""

    def __init__(self) -> None:
        self._wires: dict[int, Wire] = {}

    def add(self, wire: Wire) -> int:
        fd = len(self._wires) + 1
        self._wires[fd] = wire
        return fd

    def die(self) -> None:
        """The process is gone, and its sockets with it."""
        for wire in self._wires.values():
            if not wire.over:
                wire.over = True
                wire.peer.hung_up(True)

    def open(self) -> int:
        """How many sockets are still open."""
        return sum(wire.began and not wire.over for wire in self._wires.values())

    def read(self, fd: int, size: int) -> bytes:
        wire = self._wires[fd]
        data = bytes(wire.unread[:size])
        del wire.unread[:size]
        if not data:
            raise BlockingIOError
        return data

    def modules(self) -> tuple[Any, Any]:
        """What stands for `os` and for `select`."""
        return SimpleNamespace(read=self.read), SimpleNamespace(poll=self._poll, POLLIN=1)

    def _poll(self) -> Any:
        return _Poll(self._wires.__getitem__)


class _Poll:
    def __init__(self, wire_of: Callable[[int], Wire]) -> None:
        self._wire_of = wire_of
        self._wires: list[Wire] = []

    def register(self, fd: int, mask: int) -> None:
        self._wires.append(self._wire_of(fd))

    def poll(self, timeout: int) -> list[tuple[int, int]]:
        return [(wire.fd, 1) for wire in self._wires if wire.readable]
