"""Upstreams in memory: what one of them sends arrives byte for byte, at the script's moment.

The gateway's side of each connection is real (`upstreams.Connection`); here is the other end of
the wire, with what a kernel does between the two: bytes that nobody reads wait, are read at once
when reading goes on, and come before the end that followed them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness.clock import VirtualClock
from harness.transport import MemoryTransport

ROOM_BYTES = 256 << 10
"""What one read takes at most, as the event loops do."""


class _Socket:
    """What the adapter asks of a socket: an option, and a file that holds nothing more."""

    def setsockopt(self, *_: int) -> None:
        """There is nobody to delay a packet."""

    def fileno(self) -> int:
        return -1


class Line(MemoryTransport):
    """The gateway's end of a connection to an upstream; the script is at the other end."""

    def __init__(self, clock: VirtualClock, protocol: asyncio.Protocol) -> None:
        super().__init__(clock, protocol)
        self._extra = {"socket": _Socket()}
        self._arrived = bytearray()
        self._end: Callable[[], None] | None = None

    def arrive(self, data: bytes) -> None:
        """Bytes reach the gateway's kernel."""
        if self.lost or self._closing or self._end is not None:
            return
        self._arrived += data
        self._read()

    def arrive_end(self, *, reset: bool) -> None:
        """So does the upstream's FIN or RST."""
        if self.lost or self._closing or self._end is not None:
            return
        self._end = self._cut if reset else self._finish
        self._read()

    def resume_reading(self) -> None:
        """What waits is read in the loop's next round, as a loop does it."""
        self.reading = True
        self._clock.soon(self._read)

    def _read(self) -> None:
        """One read takes all that waits; the end is read behind it."""
        while self.reading and self._arrived and not self._closing:
            data = bytes(self._arrived[:ROOM_BYTES])
            del self._arrived[: len(data)]
            self._protocol.data_received(data)
        if self.reading and self._end is not None and not (self._arrived or self._closing):
            end, self._end = self._end, None
            end()

    def _cut(self) -> None:
        self._lose(ConnectionResetError())


class Upstreams:
    """`loop.Network`: any host answers. `lines`: in the order in which they were asked for."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.connects = True
        self.takes_requests = True
        self.lines: list[Line | None] = []
        """None: asked for, and not there."""

    async def connect(self, host: str, make: Callable[[], asyncio.Protocol]) -> None:
        number = len(self.lines)
        self.lines.append(None)
        if not self.connects:
            await asyncio.get_running_loop().create_future()
        protocol = make()
        line = Line(self._clock, protocol)
        line.slow = not self.takes_requests
        self.lines[number] = line
        protocol.connection_made(line)

    def asked(self, attempt: int) -> bytes:
        """The body of the request that its upstream got."""
        return bytes(self.line(attempt).taken).partition(b"\r\n\r\n")[2]

    def line(self, attempt: int) -> Line:
        """That of the attempt with this number, if each was connected."""
        line = self.lines[attempt - 1]
        assert line is not None, f"attempt {attempt} is not connected"
        return line
