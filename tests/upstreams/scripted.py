"""A scripted server, and a turn that writes down what it is told: real sockets, no clocks."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import uvloop

from latchway.settings import LimitSettings, Model, Price, Provider, Route, Secret, Settings
from latchway.turn import events as on
from latchway.turn.events import Binding, Place
from latchway.upstreams.limits import Limits
from latchway.upstreams.responses import Attempt, ResponsesUpstreams
from latchway.wire.frame import Kind
from latchway.wire.request import Request, parse

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
PATIENCE = 10.0
"""Seconds until a test that hangs fails."""

KEY = "sk-of-the-provider"
LINGER_NOT = struct.pack("ii", 1, 0)
LAST = (on.Answered, on.Broke, on.Oversized)
RESULTS = (Kind.COMPLETED, Kind.INCOMPLETE, Kind.FAILED)
EVENT_BYTES = 4096


def play(main: Callable[[], Awaitable[None]], loop: Any = asyncio.new_event_loop) -> None:
    """Run one test on a loop of its own, and let nothing outlive it."""
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.wait_for(main(), PATIENCE))


async def turns_of_the_loop() -> None:
    """Let all that is ready happen, and what follows from it."""
    loop = asyncio.get_running_loop()
    for _ in range(20):
        turned = loop.create_future()
        loop.call_soon(turned.set_result, None)
        await turned


# ---- the server's side


class Side:
    """One connection as the server has it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def request(self) -> tuple[str, bytes]:
        """The next request: its head as text, its body."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = int(text.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return text, await self.reader.readexactly(length)

    async def answer(self, data: bytes) -> None:
        await self.request()
        self.writer.write(data)

    async def left(self) -> None:
        """Wait until the gateway has closed the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(65536):
                pass

    def reset(self) -> None:
        """A real RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        self.writer.transport.abort()


Script = Callable[[Side], Awaitable[None]]


class Server:
    """Plays the script on each connection, then closes it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.connections = 0
        self.faults: list[AssertionError] = []
        self.tasks: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            await self.script(Side(reader, writer))
        except AssertionError as fault:
            self.faults.append(fault)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the gateway has left, or the test is over
        finally:
            writer.close()
            self.tasks.discard(task)


def always(data: bytes) -> Callable[[Side], Awaitable[None]]:
    """A server that gives each request of a connection the same answer."""

    async def script(side: Side) -> None:
        while True:
            await side.answer(data)

    return script


# ---- the turn's side


class Ear:
    """Hears an attempt. `script`: what to do, once, when the named line is heard."""

    def __init__(self) -> None:
        self.events: list[on.UpstreamEvent] = []
        self.lines: list[str] = []
        self.then: dict[str, Callable[[], None]] = {}
        self._heard = asyncio.Event()

    def tell(self, event: on.UpstreamEvent) -> None:
        assert event.attempt == 1
        self.events.append(event)
        for line in told(event):
            self.lines.append(line)
            self.then.pop(line, lambda: None)()
        self._heard.set()

    async def until(self, *lines: str) -> None:
        """Wait until one of these lines was heard."""
        while not set(lines) & set(self.lines):
            self._heard.clear()
            await self._heard.wait()

    async def over(self) -> list[str]:
        """Wait for the attempt's last event; all lines."""
        while not (self.events and _ends(self.events[-1])):
            self._heard.clear()
            await self._heard.wait()
        return self.lines

    @property
    def last(self) -> Any:
        return self.events[-1]


def told(event: on.UpstreamEvent) -> list[str]:
    """An event as lines of a transcript; frames of one read are a line each."""
    if isinstance(event, on.Arrived):
        return [frame.data.decode().split('"')[3] for frame in event.frames]
    if isinstance(event, on.Headed):
        return [f"headed {event.status}"]
    if isinstance(event, on.Answered):
        return [f"answered {event.answer.status} {event.answer.note.code}"]
    if isinstance(event, on.Broke):
        return [f"broke: {event.reason}" + (" (begun)" if event.begun else "")]
    return [type(event).__name__.lower()]


def _ends(event: on.UpstreamEvent) -> bool:
    if isinstance(event, on.Arrived):
        return any(frame.kind in RESULTS for frame in event.frames)
    return isinstance(event, LAST)


class Listener:
    """An exchange that only waits."""

    def __init__(self) -> None:
        self.connected_, self.ended_, self.broke_ = (asyncio.Event() for _ in range(3))
        self.reason = ""

    def connected(self) -> None:
        self.connected_.set()

    def sent(self) -> None: ...
    def head(self, head: Any) -> None: ...
    def body(self, data: bytes) -> None: ...

    def ended(self) -> None:
        self.ended_.set()

    def broke(self, reason: str) -> None:
        self.reason = reason
        self.broke_.set()


# ---- both


def settings_for(base_url: str, key: str | None = KEY) -> Settings:
    provider = Provider("p", base_url, Secret(key) if key else None)
    route = Route(
        "p/m", provider, "upstream-m", True, False, None, (), None, 10.0, 10.0, 60.0, 300.0
    )
    model = Model("m", Price(), True, None, None, (route,))
    limits = LimitSettings(event_bytes=EVENT_BYTES)
    return Settings(models={"m": model}, providers={"p": provider}, limits=limits)


def request(streamed: bool = True, **members: Any) -> Request:
    body = {"model": "m", "input": "hi", "stream": streamed, **members}
    return parse(json.dumps(body).encode(), websocket=False)


PLACE = Place("p/m", Binding.STATELESS, another=False)


class World:
    """A server and the upstreams that call it."""

    def __init__(self, server: Server, upstreams: ResponsesUpstreams, port: int) -> None:
        self.server, self.upstreams, self.port = server, upstreams, port
        self.calls: list[Attempt] = []

    def call(self, asked: Request | None = None, ear: Ear | None = None) -> tuple[Ear, Attempt]:
        ear = ear or Ear()
        call = self.upstreams.open(1, PLACE, asked or request(), ear.tell)
        self.calls.append(call)
        return ear, call

    async def turn(self, streamed: bool = True) -> list[str]:
        """One whole turn, released as the driver does it."""
        ear, call = self.call(request(streamed))
        lines = await ear.over()
        call.release()
        return lines


@asynccontextmanager
async def world(
    script: Script, *, client_tls: ssl.SSLContext | None = None,
    server_tls: ssl.SSLContext | None = None, key: str | None = KEY, **limits: Any,
) -> AsyncIterator[World]:  # fmt: skip
    """`limits`: what differs from the ordinary ones."""
    server = Server(script)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=server_tls)
    scheme = "https" if server_tls else "http"
    port = listener.sockets[0].getsockname()[1]
    url = f"{scheme}://127.0.0.1:{port}/v1"
    upstreams = ResponsesUpstreams(
        settings_for(url, key), limits=replace(Limits(), **limits), tls=client_tls
    )
    here = World(server, upstreams, port)
    try:
        yield here
    finally:
        for call in here.calls:
            call.drop()
        upstreams.close()
        listener.close()
        for task in list(server.tasks):
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)
    assert server.faults == []
