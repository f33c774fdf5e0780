"""The two ends of a link, joined in virtual time, and what was said on each."""

from __future__ import annotations

from typing import Any, cast

from harness.clock import VirtualClock
from latchway.workers import messages
from latchway.workers.link import Link


class Wire:
    """One end's transport: what is written arrives at the other end in the clock's next round, in
    pieces of `cut` bytes. `unsent`: what its buffer seems to hold."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.peer: Link | None = None
        self.writes: list[bytes] = []
        self.cut: int | None = None
        self.unsent = 0
        self.closed = False

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.writes.append(data)
        size = self.cut or len(data)
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        self._clock.soon(lambda: self._arrive(pieces))

    def _arrive(self, pieces: list[bytes]) -> None:
        assert self.peer is not None
        for piece in pieces:
            self.peer.data_received(piece)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def close(self) -> None:
        """The other end reads what was written, then the end; this one is told, too."""
        self.closed = True
        self._clock.soon(self._end)

    def _end(self) -> None:
        assert self.peer is not None
        self.peer.connection_lost(None)


class End:
    """A link, what it heard, and how often it was told of its end."""

    def __init__(self, clock: VirtualClock, decoder: Any) -> None:
        self.wire = Wire(clock)
        self.link = Link(clock.soon, decoder)
        self.heard: list[Any] = []
        self.ends = 0
        self.link.heard, self.link.lost = self.heard.append, self._end

    def _end(self) -> None:
        self.ends += 1

    def connect(self) -> None:
        self.link.connection_made(cast(Any, self.wire))


class Pair:
    """`worker` and `supervisor`: the ends, connected unless a test does it."""

    def __init__(self, *, connected: bool = True) -> None:
        self.clock = VirtualClock()
        self.worker = End(self.clock, messages.from_supervisor)
        self.supervisor = End(self.clock, messages.from_workers)
        self.worker.wire.peer, self.supervisor.wire.peer = self.supervisor.link, self.worker.link
        if connected:
            self.worker.connect()
            self.supervisor.connect()

    def part(self) -> None:
        """Both ends learn that the link has ended."""
        self.worker.link.connection_lost(None)
        self.supervisor.link.connection_lost(None)
        self.clock.advance()
