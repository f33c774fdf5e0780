"""A lab on a loop of its own, and clients without manners: what they read is what was sent."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from latchway.lab.calls import Call
from latchway.lab.server import Lab

PATIENCE = 5.0
"""Seconds after which a test that waits has failed; nothing here takes a tenth of it."""


class Running:
    """A lab in a thread, for tests that block."""

    def __init__(self, lab: Lab, port: int, loop: asyncio.AbstractEventLoop) -> None:
        self.lab, self.port, self._loop = lab, port, loop

    def until(self, condition: Callable[[], object]) -> None:
        waiting = asyncio.wait_for(self.lab.until(condition), PATIENCE)
        asyncio.run_coroutine_threadsafe(waiting, self._loop).result(PATIENCE * 2)

    def over(self, number: int = 1) -> Call:
        """Call `number`, once it is over."""
        calls = self.lab.calls
        self.until(lambda: len(calls) >= number and calls[number - 1].outcome)
        return calls[number - 1]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def ask(self, **fields: Any) -> bytes:
        """All the bytes of one streamed answer, on a connection that ends with it."""
        with self.connect() as connection:
            connection.sendall(request(close=True, stream=True, **fields))
            return read_to_end(connection)


@contextmanager
def running(script: Any, report: Callable[[Call], None] | None = None) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def do(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    lab = Lab(report)
    try:
        yield Running(lab, do(lab.start(script)), loop)
    finally:
        do(lab.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def request(
    method: str = "POST", path: str = "/v1/responses", close: bool = False, **body: Any
) -> bytes:
    data = json.dumps(body).encode() if body else b""
    ending = "connection: close\r\n" if close else ""
    head = f"{method} {path} HTTP/1.1\r\nhost: lab\r\n{ending}content-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def read_to_end(connection: socket.socket) -> bytes:
    """Until the other side's FIN. A reset raises ConnectionResetError."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """Until what was read ends with `end`, so that nothing of what follows is taken."""
    data = b""
    while not data.endswith(end):
        part = connection.recv(1)
        if not part:
            raise EOFError(data)
        data += part
    return data


def head_and_rest(answer: bytes) -> tuple[bytes, bytes]:
    head, _, rest = answer.partition(b"\r\n\r\n")
    return head, rest


def dechunked(answer: bytes) -> bytes:
    """The body of a chunked answer; EOFError if its last chunk is missing."""
    _, _, rest = answer.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return body
        body, rest = body + rest[:length], rest[length + 2 :]
    raise EOFError(body)


def data_of(body: bytes) -> list[Any]:
    """The payloads of an event stream whose events have one line of data each."""
    lines = [line for line in body.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line[6:]) for line in lines]


def types_of(answer: bytes) -> list[str]:
    return [event["type"] for event in data_of(dechunked(answer))]
