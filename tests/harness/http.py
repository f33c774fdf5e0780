"""A client over HTTP: it sends what a test says, byte for byte, and reads as a real one would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httptools

from harness.clock import VirtualClock
from harness.transport import MemoryTransport
from latchway.serve.app import App
from latchway.serve.http import HttpConnection


@dataclass
class Answer:
    """One HTTP answer, as far as it has come."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    whole: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error answer; the shape that every one of them has is checked on the way."""
        error = self.json["error"]
        assert set(error) == {"message", "type", "param", "code", "retryable", "retry_after"}
        assert self.json["request_id"] == self.headers["x-request-id"]
        assert self.headers["x-should-retry"] == str(error["retryable"]).lower()
        return str(error["code"])

    @property
    def events(self) -> list[dict[str, Any]]:
        """The payloads of the whole events in an event stream."""
        blocks = self.body.split(b"\n\n")[:-1]
        datas = (line[6:] for b in blocks for line in b.split(b"\n") if line.startswith(b"data: "))
        return [json.loads(data) for data in datas]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def comments(self) -> int:
        return self.body.count(b": keepalive\n\n")


class _Reader:
    """Callbacks of the parser: the answers in `data`, in order."""

    def __init__(self, data: bytes, *, closed: bool) -> None:
        self.answers: list[Answer] = []
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._parser.feed_data(data)
        if (
            closed
            and self.answers
            and not {"content-length", "transfer-encoding"} & set(self.answers[-1].headers)
        ):
            self.answers[-1].whole = True

    def on_message_begin(self) -> None:
        self._headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode().lower()
        assert key not in self._headers, f"{key} twice"
        self._headers[key] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.answers.append(Answer(self._parser.get_status_code(), self._headers))

    def on_body(self, body: bytes) -> None:
        self.answers[-1].body += body

    def on_message_complete(self) -> None:
        self.answers[-1].whole = True


class HttpPeer:
    """One connection. `transport`: the wire, for what a test does to it."""

    def __init__(self, app: App, clock: VirtualClock, secret: str) -> None:
        self._clock, self._secret = clock, secret
        self.connection = HttpConnection(app)
        self.transport = MemoryTransport(clock, self.connection)
        self.connection.connection_made(self.transport)

    def send(self, data: bytes) -> None:
        """Bytes as they are; what is due now happens then."""
        self.transport.send(data)
        self._clock.advance()

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> None:
        """A sound request with this client's key. A header of None is left out."""
        given: dict[str, str | None] = {"host": "gateway"}
        given["authorization"] = f"Bearer {self._secret}"
        if body is not None:
            given["content-length"] = str(len(body))
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in given.items() if value is not None]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))

    def post(self, body: bytes, **headers: str | None) -> None:
        """A turn."""
        self.request("POST", "/v1/responses", body, **headers)

    @property
    def answers(self) -> list[Answer]:
        """All answers so far; those that only say 100 are left out."""
        taken = bytes(self.transport.taken).replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
        return _Reader(taken, closed=self.transport.lost).answers

    @property
    def answer(self) -> Answer:
        """The one answer so far."""
        answers = self.answers
        assert len(answers) == 1, answers
        return answers[0]

    @property
    def closed(self) -> bool:
        """The server has ended the connection, after all that it had to say."""
        return self.transport.lost and not self.transport.reset
