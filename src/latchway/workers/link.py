"""One end of the socket pair between a worker and its supervisor.

Everything that is said in one round of the loop leaves in one write; what comes is told message by
message, in order, and one whose handling fails takes no other with it. There is no task and no
timer: whoever asks keeps its own time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import msgspec

from latchway.workers.messages import Message, Packet, Packets

Soon = Callable[[Callable[[], None]], object]


class Link(asyncio.Protocol):
    """`soon` calls in the loop's next round. `heard` and `lost` are set before anything comes;
    `lost` is called once, behind the last message."""

    def __init__(self, soon: Soon, decoder: msgspec.msgpack.Decoder[Any]) -> None:
        self._soon = soon
        self._packet, self._packets = Packet(), Packets(decoder)
        self._inbox: deque[Any] = deque()
        self._transport: asyncio.Transport | None = None
        self._flushing = self._telling = self._ended = self._told_end = False
        self.heard: Callable[[Any], None]
        self.lost: Callable[[], None]

    @property
    def open(self) -> bool:
        return self._transport is not None and not self._ended

    @property
    def unsent_bytes(self) -> int:
        """What the other side has not taken."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def send(self, message: Message) -> None:
        """Ignored once the link has ended: `lost` says so."""
        if self._ended:
            return
        self._packet.add(message)
        if not self._flushing:
            self._flushing = True
            self._soon(self._flush)

    def close(self) -> None:
        """End it behind what was said."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def _flush(self) -> None:
        if self._flushing and self._transport is not None and not self._transport.is_closing():
            self._flushing = False
            self._transport.write(self._packet.take())

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._inbox.extend(self._packets.feed(data))
        self._tell_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._tell_soon()

    def _tell_soon(self) -> None:
        if not self._telling:
            self._telling = True
            self._soon(self._tell)

    def _tell(self) -> None:
        self._telling = False
        try:
            while self._inbox:
                self.heard(self._inbox.popleft())
            if self._ended and not self._told_end:
                self._told_end = True
                self.lost()
        finally:
            if self._inbox or (self._ended and not self._told_end):
                self._tell_soon()
