"""Turns over a WebSocket, on `websockets`: one `response.create`, then its events.

The socket is kept for the next turn only after a result, and used only if nothing has come behind
it. After a failure, or a turn that the application left, what is still on its way could not be told
from the next turn's events.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any, TypedDict, Unpack

from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as async_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import Close
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from latchway_client.clients import AsyncClient, Client, checked
from latchway_client.ends import Break, How, Result
from latchway_client.events import Event, read
from latchway_client.limits import CLOSE_SECONDS, EVENT_TIMEOUT_SECONDS, TIMEOUT_SECONDS
from latchway_client.reading import Reading

FAULTS = (WebSocketException, OSError)
"""What can end a turn; TimeoutError is an OSError."""


class Options(TypedDict, total=False):
    """What may be said of a socket. `headers`: of the handshake, beside the key's."""

    headers: Mapping[str, str]
    timeout: float
    event_timeout: float


class _Address:
    """Where a client connects, and how."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        event_timeout: float = EVENT_TIMEOUT_SECONDS,
    ) -> None:
        self._url = re.sub("^http", "ws", base_url).rstrip("/") + "/responses"
        self._options: dict[str, Any] = {
            "additional_headers": {
                **(headers or {}),
                "Authorization": f"Bearer {checked(api_key)}",
            },
            "open_timeout": timeout,
            "close_timeout": CLOSE_SECONDS,
            "max_size": None,
        }
        self._event_timeout = event_timeout
        self._running: Reading | None = None

    def _begin(self, reading: Reading) -> None:
        """One turn at a time: the events of two on one socket could not be told apart."""
        if self._running is not None and self._running.end is None:
            raise RuntimeError("another turn of this client is still open: make a client for each")
        self._running = reading


class WebSocketClient(_Address, Client):
    """`base_url` as for HTTP: it ends in /v1. `timeout`: until connected; `event_timeout`: without
    an event; both in seconds."""

    def __init__(self, base_url: str, api_key: str, **more: Unpack[Options]) -> None:
        super().__init__(base_url, api_key, **more)
        self._socket: ClientConnection | None = None
        self._open = ExitStack()

    def close(self) -> None:
        """Close the socket that is kept."""
        self._socket = None
        self._open.close()

    def __enter__(self) -> WebSocketClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _events(self, request: dict[str, Any], reading: Reading) -> Generator[Event, None, None]:
        self._begin(reading)
        try:
            socket = self._connected(reading)
            socket.send(created(request))
            while True:
                yield read(socket.recv(self._event_timeout))
        except FAULTS as fault:
            raise broken_by(fault) from fault
        finally:
            if not isinstance(reading.end, Result):
                self._running = None
                self.close()

    def _kept(self) -> ClientConnection | None:
        """The socket of an earlier turn, if nothing lies on it that the next would take as its."""
        socket = self._socket
        if socket is None or socket.state is not State.OPEN:
            return None
        try:
            socket.recv(timeout=0)
        except FAULTS as fault:
            return socket if isinstance(fault, TimeoutError) else None
        return None

    def _connected(self, reading: Reading) -> ClientConnection:
        self._socket = self._kept() or self._fresh()
        reading.connected(told(self._socket))
        return self._socket

    def _fresh(self) -> ClientConnection:
        self.close()
        try:
            socket: ClientConnection = self._open.enter_context(connect(self._url, **self._options))
        except FAULTS as fault:
            raise not_connected(fault) from fault
        return socket


class AsyncWebSocketClient(_Address, AsyncClient):
    """`base_url` as for HTTP: it ends in /v1. `timeout`: until connected; `event_timeout`: without
    an event; both in seconds."""

    def __init__(self, base_url: str, api_key: str, **more: Unpack[Options]) -> None:
        super().__init__(base_url, api_key, **more)
        self._socket: AsyncConnection | None = None
        self._open = AsyncExitStack()

    async def close(self) -> None:
        """Close the socket that is kept."""
        self._socket = None
        await self._open.aclose()

    async def __aenter__(self) -> AsyncWebSocketClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _events(
        self, request: dict[str, Any], reading: Reading
    ) -> AsyncGenerator[Event, None]:
        self._begin(reading)
        try:
            socket = await self._connected(reading)
            await socket.send(created(request))
            while True:
                async with asyncio.timeout(self._event_timeout):
                    message = await socket.recv()
                yield read(message)
        except FAULTS as fault:
            raise broken_by(fault) from fault
        finally:
            if not isinstance(reading.end, Result):
                self._running = None
                await self.close()

    async def _kept(self) -> AsyncConnection | None:
        """The socket of an earlier turn, if nothing lies on it that the next would take as its."""
        socket = self._socket
        if socket is None or socket.state is not State.OPEN:
            return None
        try:
            async with asyncio.timeout(0):
                await socket.recv()
        except FAULTS as fault:
            return socket if isinstance(fault, TimeoutError) else None
        return None

    async def _connected(self, reading: Reading) -> AsyncConnection:
        self._socket = await self._kept() or await self._fresh()
        reading.connected(told(self._socket))
        return self._socket

    async def _fresh(self) -> AsyncConnection:
        await self.close()
        try:
            return await self._open.enter_async_context(async_connect(self._url, **self._options))
        except FAULTS as fault:
            raise not_connected(fault) from fault


def created(request: Mapping[str, Any]) -> str:
    """The message that begins a turn."""
    return json.dumps({"type": "response.create", **request})


def told(socket: ClientConnection | AsyncConnection) -> dict[str, str]:
    """The headers of the handshake's answer."""
    headers = socket.response.headers if socket.response is not None else {}
    return {name.lower(): value for name, value in headers.items()}


def not_connected(fault: Exception) -> Break:
    """What it means that no socket was opened: nothing was sent."""
    if not isinstance(fault, InvalidStatus):
        return Break(How.NOT_CONNECTED, f"{type(fault).__name__}: {fault}")
    answer = fault.response
    return Break(
        How.HTTP_STATUS,
        f"the handshake was answered with status {answer.status_code}",
        status=answer.status_code,
        headers={name.lower(): value for name, value in answer.headers.raw_items()},
        body=bytes(answer.body or b"").decode(errors="replace"),
    )


def broken_by(fault: Exception) -> Break:
    """What a fault on an open socket means for the turn."""
    close = close_of(fault)
    if close is not None:
        message = f"the server closed the socket with {close.code}: {close.reason or 'no reason'}"
        return Break(How.CLOSED, message, close_code=close.code)
    how = How.TIMED_OUT if isinstance(fault, TimeoutError) else How.BROKEN
    return Break(how, f"{type(fault).__name__}: {fault}")


def close_of(fault: Exception) -> Close | None:
    """The server's own close frame. One that answers ours, which is sent when what came cannot be
    read, is not."""
    if not isinstance(fault, ConnectionClosed) or fault.rcvd_then_sent is False:
        return None
    return fault.rcvd
