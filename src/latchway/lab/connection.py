"""One connection to the lab: requests in, one after another, and the script played to each."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Protocol, cast

from latchway.lab.asked import Asked, json_object
from latchway.lab.calls import Call, Received
from latchway.lab.intake import Intake, Refused
from latchway.lab.play import Part, handshake_actions, http_actions, websocket_actions
from latchway.lab.player import Player
from latchway.lab.script import NO_ROUTE, Body, Framing, Reply
from latchway.lab.websocket import Socket
from latchway.lab.wire import Left, Wire

MAX_WAITING = 64
"""Requests that may wait on one connection while another is played; beyond it: a reset."""


class Stage(Protocol):
    """What a connection needs of the lab."""

    def plain(self, received: Received) -> Part | None:
        """An answer that is not scripted, or None: it is a call."""

    def next_part(self, received: Received) -> Part:
        """What the next call would get, without making it one."""

    def begin(self, received: Received, connection: int) -> tuple[Call, Part]: ...
    def wrote(self, call: Call, events: int) -> None: ...
    def end(self, call: Call, outcome: str) -> None: ...
    def left(self, call: Call, how: str) -> None: ...
    def joined(self, connection: Connection) -> int:
        """Number of the connection."""

    def parted(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """Its requests wait in line, its one task plays to them; a WebSocket's messages wait as well.

    The task ends with the connection: `_waiting` gets None when the other side leaves.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._intake = Intake(self._enqueue)
        self._waiting: asyncio.Queue[Received | Refused | None] = asyncio.Queue()
        self._socket: Socket | None = None
        self._handshake: Received | None = None
        self._last: Call | None = None
        self._deaf = False

    # ---- asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's, so this cannot be asserted.
        self._wire = Wire(cast(asyncio.Transport, transport), self._noticed)
        self._number = self._stage.joined(self)
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.receive(data)
            return
        if self._deaf:
            return
        try:
            rest = self._intake.feed(data)
        except Refused as refused:
            self._deaf = True
            self._waiting.put_nowait(refused)
            return
        if self._handshake is not None:
            self._socket = Socket(self._wire, self._heard)
            self._socket.receive(rest or b"")

    def eof_received(self) -> None:
        self._leave("closed")

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave("closed" if exc is None else "reset")
        self._stage.parted(self)

    def pause_writing(self) -> None:
        self._wire.pause()

    def resume_writing(self) -> None:
        self._wire.resume()

    # ---- who comes and goes

    def _enqueue(self, received: Received) -> None:
        if received.transport == "websocket" and self._handshake is None:
            self._handshake = received
        if self._waiting.qsize() >= MAX_WAITING:
            self._wire.reset()
        self._waiting.put_nowait(received)

    def _heard(self, message: bytes) -> None:
        """A message that says it is something else than `response.create` gets no reply."""
        if self._handshake and json_object(message).get("type") in (None, "response.create"):
            self._enqueue(replace(self._handshake, body=message))

    def _leave(self, how: str) -> None:
        self._wire.leave(how)
        self._waiting.put_nowait(None)

    def _noticed(self, how: str) -> None:
        self._waiting.put_nowait(None)
        if self._last is not None:
            self._stage.left(self._last, how)

    async def stop(self) -> None:
        """Reset the connection, whatever it plays."""
        self._wire.reset()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # ---- one request after another

    async def _serve(self) -> None:
        try:
            while received := await self._waiting.get():
                if isinstance(received, Refused):
                    await self._refuse(received)
                    return
                if not await self._answer(received):
                    return
        except Left:
            return
        finally:
            self._wire.close()

    async def _refuse(self, refused: Refused) -> None:
        body = Body({"error": {"message": str(refused), "type": "invalid_request_error"}})
        reply = Reply(path="none", status=refused.status, body=body, framing=Framing.CLOSE)
        part = Part(reply, Asked(), "", 0)
        await Player(self._wire, part, _unheard).http(http_actions(part))

    async def _answer(self, received: Received) -> bool:
        """Answer it; False: the connection is over. Raises Left."""
        if self._socket is not None:
            return await self._on_socket(received, self._socket)
        plain = self._stage.plain(received)
        if plain is not None:
            await Player(self._wire, plain, _unheard).http(http_actions(plain))
        else:
            call, part = self._begin(received)
            await self._recorded(call, self._player(call, part).http(http_actions(part)))
        return received.keep_alive and not self._wire.ended

    async def _on_socket(self, received: Received, socket: Socket) -> bool:
        if received is self._handshake:
            return await self._open(received, socket)
        call, part = self._begin(received)
        socket.pong = part.reply.pong
        playing = self._player(call, part).websocket(websocket_actions(part), socket)
        await self._recorded(call, playing)
        return not self._wire.ended

    async def _open(self, received: Received, socket: Socket) -> bool:
        """A handshake takes no reply from the script, unless the next one refuses it.

        That no route fits refuses a call, not a handshake: it has nothing yet that could fit.
        """
        coming = self._stage.next_part(received)
        if coming.reply is NO_ROUTE or handshake_actions(coming) is None:
            socket.pong = coming.reply.pong
            return await socket.accept(received)
        call, part = self._begin(received)
        await self._recorded(call, self._refused(call, part))
        return False

    async def _refused(self, call: Call, part: Part) -> str:
        actions = handshake_actions(part)
        assert actions is not None
        outcome = await self._player(call, part).http(actions)
        return "refused" if outcome == "clean" else outcome

    def _begin(self, received: Received) -> tuple[Call, Part]:
        call, part = self._stage.begin(received, self._number)
        self._last = call
        return call, part

    def _player(self, call: Call, part: Part) -> Player:
        return Player(self._wire, part, lambda events: self._stage.wrote(call, events))

    async def _recorded(self, call: Call, playing: Coroutine[None, None, str]) -> None:
        try:
            outcome = await playing
        except Left:
            self._stage.end(call, "left")
            raise
        self._stage.end(call, outcome)


def _unheard(events: int) -> None:
    """An answer that is no call is not recorded."""
