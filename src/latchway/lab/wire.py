"""A connection's writing side: every write goes out by itself, and who leaves is noticed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable

LINGER_ZERO = struct.pack("ii", 1, 0)
"""SO_LINGER on, 0 seconds: closing sends RST and forgets what is unsent."""


class Left(Exception):
    """The other side is gone; the script has nobody to play to."""


class Wire:
    """`noticed` is called once, with `closed`, `reset` or `close <code>`, if the other side leaves
    before the lab has ended the connection."""

    def __init__(self, transport: asyncio.Transport, noticed: Callable[[str], None]) -> None:
        self._transport = transport
        self._noticed = noticed
        self._gone = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._paused = False
        self.ended = False
        """The lab ended it, or has begun to: nobody leaves any more."""
        transport.set_write_buffer_limits(high=0)
        self._socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _socket(self) -> socket.socket:
        """asyncio's own wrapper of it, which has the options' calls alone."""
        return self._transport.get_extra_info("socket")  # type: ignore[no-any-return]

    # ---- for the player

    async def send(self, data: bytes) -> None:
        """One write, handed to the kernel before this returns. Raises Left if it could not be."""
        if self._gone.is_set():
            raise Left
        self._transport.write(data)
        await asyncio.sleep(0)
        await self._room.wait()
        if self._paused:
            raise Left

    def send_soon(self, data: bytes) -> None:
        """A write that waits for nothing: an answer to a control frame."""
        self._transport.write(data)

    async def wait(self, seconds: float) -> None:
        """Raises Left as soon as the other side leaves."""
        try:
            await asyncio.wait_for(self._gone.wait(), seconds)
        except TimeoutError:
            return
        raise Left

    async def silence(self) -> None:
        await self._gone.wait()
        raise Left

    def close(self) -> None:
        """FIN, after what is written."""
        self.ended = True
        self._transport.close()

    def reset(self) -> None:
        """RST, at once."""
        self.ended = True
        if not self._transport.is_closing():
            self._socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
        self._transport.abort()

    # ---- for the protocol

    def leave(self, how: str) -> None:
        first = not self._gone.is_set()
        self._gone.set()
        self._room.set()
        if first and not self.ended:
            self._noticed(how)

    def pause(self) -> None:
        self._paused = True
        self._room.clear()

    def resume(self) -> None:
        self._paused = False
        self._room.set()
