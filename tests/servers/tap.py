"""A wire between the gateway and a real server that writes down what passes.

So what the server sent can be compared with what the client got, byte for byte. It passes on every
byte as it comes, and a server's end, however it came, as the end of the connection.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Call:
    """One request of the gateway's, and the answer, without its transfer encoding.

    `status` is 0 if there was none; not `whole`: it broke off.
    """

    request: bytes
    path: str
    status: int
    streamed: bool
    answer: bytes
    whole: bool


@dataclass(slots=True)
class Passed:
    """What has passed on one connection, both ways."""

    up: bytearray = field(default_factory=bytearray)
    down: bytearray = field(default_factory=bytearray)


class Tap:
    """Listens from the making to `close`; connects each caller to the server at `port`."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[Passed] = []
        threading.Thread(target=self._accept, name="tap", daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def calls(self, label: str) -> list[Call]:
        """The calls whose path or body has this label."""
        found = [call for passed in tuple(self._connections) for call in _calls(passed)]
        return [call for call in found if label in call.path or label.encode() in call.request]

    def has_passed(self, label: str, word: bytes) -> bool:
        """Has a call with this label come, and has this word of its answer?"""
        return any(word in call.answer for call in self.calls(label))

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:  # closed
                return
            passed = Passed()
            self._connections.append(passed)
            self._join(caller, passed)

    def _join(self, caller: socket.socket, passed: Passed) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._server))
        except OSError:
            caller.close()
            return
        for pair in ((caller, server, passed.up), (server, caller, passed.down)):
            threading.Thread(target=_pump, args=pair, name="tap's pump", daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, record: bytearray) -> None:
    """Pass on until one side is gone; then the other side goes, too."""
    with suppress(OSError):  # reset
        while data := source.recv(READ_BYTES):
            record += data
            sink.sendall(data)
    for each in (source, sink):
        with suppress(OSError):  # it went first
            each.shutdown(socket.SHUT_RDWR)


class _Down(io.BytesIO):
    """What a server said, read by http.client in place of a socket, one answer after the other."""

    def makefile(self, mode: str) -> io.BytesIO:
        return self

    def close(self) -> None:
        """http.client closes at each answer's end; the next one follows."""


def _calls(passed: Passed) -> Iterator[Call]:
    """What was asked on a connection, and what was answered so far."""
    down = _Down(bytes(passed.down))
    for method, path, body in _requests(bytes(passed.up)):
        answer = http.client.HTTPResponse(down, method=method)  # type: ignore[arg-type]
        try:
            answer.begin()
        except (http.client.HTTPException, OSError):
            yield Call(body, path, 0, False, b"", whole=False)
            continue
        said, whole = _read(answer)
        streamed = "event-stream" in answer.headers.get("content-type", "")
        yield Call(body, path, answer.status, streamed, said, whole)


def _read(answer: http.client.HTTPResponse) -> tuple[bytes, bool]:
    """What there is of the body, and whether that is all of it."""
    try:
        return answer.read(), True
    except http.client.IncompleteRead as broken:
        return broken.partial, False


def _requests(up: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Method, path and body of each whose head is there."""
    while b"\r\n\r\n" in up:
        head, _, rest = up.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        length = int(found.group(1)) if found else 0
        yield method, path, rest[:length]
        up = rest[length:]
