"""The least that a gateway in Python can do: what no change of ours can go below on this machine.

Two connections, the same libraries as the gateway's, and between them one read and one write. No
key is looked up, no limit kept, nothing reserved, timed, held back or logged; a broken upstream is
a cut client. `bytes` passes on what a read brought. `events` reads each event before it passes, as
the gateway does: its class and its text.

    python bench/relay.py PORT UPSTREAM_PORT bytes|events
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any, cast

import httptools
import msgspec
import uvloop

from latchway.serve import memory
from latchway.wire.sse import Parser

BACKLOG = 1024
EVENT_BYTES = 16 << 20

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


class Asked(msgspec.Struct):
    """What is read of a request."""

    model: str
    stream: bool = False


asked = msgspec.json.Decoder(Asked).decode

Cut = Callable[[bytes], bytes]
"""Of what a read brought, and what was left before it: what may pass on."""


def bytes_alone() -> Cut:
    return bytes


def events() -> Cut:
    parser = Parser(EVENT_BYTES)
    return lambda data: b"".join([frame.block for frame in parser.feed(data)])


CUTS: dict[str, Callable[[], Cut]] = {"bytes": bytes_alone, "events": events}


class Upstream(asyncio.Protocol):
    """One connection to the upstream, with one answer at a time."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.transport: asyncio.Transport | None = None
        self.request = b""

    def ask(self, client: Client, request: bytes) -> None:
        self.client, self.request = client, request
        self.cut, self.begun, self.ended = self.relay.cut(), False, False
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self.parser = httptools.HttpResponseParser(self)
        if self.transport is not None:
            self.transport.write(request)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.relay.loop.call_soon(self.transport.write, self.request)

    def on_message_complete(self) -> None:
        self.ended = True

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)
        body = self.cut(b"".join(self.pieces))
        self.pieces.clear()
        if body or self.ended:
            chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            self.client.write((b"" if self.begun else HEAD) + chunk + LAST_CHUNK * self.ended)
            self.begun = True
        if self.ended:
            del self.parser
            self.relay.idle.append(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self in self.relay.idle:
            self.relay.idle.remove(self)
        else:
            self.client.transport.abort()


class Client(asyncio.Protocol):
    """One connection of a client's."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self.parser = httptools.HttpRequestParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        body = b"".join(self.pieces)
        self.pieces.clear()
        asked(body)
        self.relay.ask(self, body)

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)


class Relay:
    """What the connections share. Idle ones to the upstream are used again, the newest first."""

    def __init__(self, loop: asyncio.AbstractEventLoop, upstream_port: int, cut: str) -> None:
        self.loop, self.cut = loop, CUTS[cut]
        self.idle: list[Upstream] = []
        self._port = upstream_port
        self._dials: set[asyncio.Task[Any]] = set()

    def ask(self, client: Client, body: bytes) -> None:
        request = self._head(len(body)) + body
        if self.idle:
            self.idle.pop().ask(client, request)
            return
        upstream = Upstream(self)
        upstream.ask(client, request)
        made = self.loop.create_connection(lambda: upstream, "127.0.0.1", self._port)
        dial = self.loop.create_task(made)
        self._dials.add(dial)
        dial.add_done_callback(self._dials.discard)

    def _head(self, size: int) -> bytes:
        lines = (
            "POST /v1/responses HTTP/1.1", f"host: 127.0.0.1:{self._port}",
            "content-type: application/json", f"content-length: {size}",
        )  # fmt: skip
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def serve(port: int, upstream_port: int, cut: str) -> None:
    """Until it is ended. It prints its port, which the system chooses for 0."""
    memory.spare()
    loop = asyncio.get_running_loop()
    relay = Relay(loop, upstream_port, cut)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    server = await loop.create_server(lambda: Client(relay), sock=listening, backlog=BACKLOG)
    print(listening.getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
