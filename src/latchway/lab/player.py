"""Carries out the actions of one call, on the wire. What happened is its outcome, in a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from latchway.lab.play import LAST_CHUNK, Action, Head, Part, Put, framed, pieces
from latchway.lab.script import Close, End, Ending, Framing, Ping, Reset, Silence, Wait
from latchway.lab.websocket import Socket
from latchway.lab.wire import Wire


class Player:
    """`wrote` is called after the head with 0, after each event or message with 1.

    Its methods return `clean`, `cut`, `reset` or `closed <code>`, and raise Left.
    """

    def __init__(self, wire: Wire, part: Part, wrote: Callable[[int], None]) -> None:
        self._wire = wire
        self._split = part.reply.split
        self._wrote = wrote
        self._framing: Framing | None = None

    async def http(self, actions: Iterator[Action]) -> str:
        for action in actions:
            if isinstance(action, Head):
                await self._head(action)
            elif isinstance(action, Put):
                await self._put(action.body)
            elif action == End(Ending.CLEAN):
                break
            elif (outcome := await self._common(action)) is not None:
                return outcome
        return await self._finish()

    async def _head(self, head: Head) -> None:
        self._framing = head.framing
        await self._wire.send(head.data)
        self._wrote(0)

    async def _put(self, data: bytes) -> None:
        for piece in pieces(data, self._split):
            await self._wire.send(framed(self._framing, piece))
        self._wrote(1)

    async def _finish(self) -> str:
        if self._framing is Framing.CHUNKED:
            await self._wire.send(LAST_CHUNK)
        if self._framing in (None, Framing.CLOSE):
            self._wire.close()
        return "clean"

    async def _common(self, action: Action) -> str | None:
        """What is the same for both transports; over HTTP there is no close frame and no ping."""
        if isinstance(action, Wait):
            await self._wire.wait(action.seconds)
        elif isinstance(action, Silence):
            await self._wire.silence()
        elif isinstance(action, Reset):
            self._wire.reset()
            return "reset"
        elif isinstance(action, End | Close):
            self._wire.close()
            return "cut"
        return None

    async def websocket(self, actions: Iterator[Action], socket: Socket) -> str:
        for action in actions:
            if isinstance(action, Put):
                await self._message(action, socket)
            elif isinstance(action, Ping):
                await socket.ping(action.data)
            elif (close := _close_of(action)) is not None:
                await socket.close(close.code, close.reason)
                return f"closed {close.code}"
            elif (outcome := await self._common(action)) is not None:
                return outcome
        return "clean"

    async def _message(self, action: Put, socket: Socket) -> None:
        if action.message is not None:
            await socket.put(action, self._split)
            self._wrote(1)


def _close_of(action: Action) -> Close | None:
    """The close frame of a step; a clean end is one of those, too."""
    if action == End(Ending.CLEAN):
        return Close(1000)
    return action if isinstance(action, Close) else None
