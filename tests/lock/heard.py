"""What a client hears, in the words of a recording: its bytes decoded as they come.

| class | hears |
|---|---|
| `HttpEars` | one answer to a POST: a stream of events, or one body |
| `SocketEars` | the text frames behind a handshake |
"""

from __future__ import annotations

import json
from typing import Any, Protocol

import httptools
from websockets.frames import Opcode

from harness.websocket import Received, frames_of

CODED = frozenset({"error", "response.failed"})
STATUS_TYPES = {"failed": "response.failed", "incomplete": "response.incomplete"}
REPLAY = "x-latchway-replay"


class Ears(Protocol):
    whole: bool
    """The answer has ended as it must: what comes after would be somebody else's."""

    def hear(self, data: bytes) -> list[str]:
        """What one write of the gateway says to the client, line by line."""


class HttpEars:
    """Callbacks of the parser beside `hear`."""

    def __init__(self) -> None:
        self.whole = False
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._headed = False
        self._body = bytearray()

    def hear(self, data: bytes) -> list[str]:
        early = not self._headed
        self._parser.feed_data(data)
        if self._streamed:
            return self._stream_lines(head=early)
        return self._answer_lines() if self.whole else []

    # ---- httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode()

    def on_headers_complete(self) -> None:
        self._headed = True

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self.whole = True

    # ----

    @property
    def _streamed(self) -> bool:
        return self._headers.get("content-type", "").startswith("text/event-stream")

    def _stream_lines(self, *, head: bool) -> list[str]:
        """A write holds whole events: half of one would be half of a line here."""
        blocks = bytes(self._body).replace(b"\r\n", b"\n").split(b"\n\n")
        assert blocks.pop() == b"", "an event in two writes"
        self._body.clear()
        status = f"200{'' if blocks else ', early'}{self._replay}"
        return [*([status] if head else []), *map(_block, blocks)]

    def _answer_lines(self) -> list[str]:
        status, body = self._parser.get_status_code(), bytes(self._body)
        if status == 200:
            return [f"200{self._replay}", _label(json.loads(body))]
        return [f"{_refusal(status, body, self._headers)}{self._replay}"]

    @property
    def _replay(self) -> str:
        told = self._headers.get(REPLAY)
        return "" if told is None else f", replay: {told}"


class SocketEars:
    """A message in several frames is put together first."""

    def __init__(self) -> None:
        self.whole = True
        self.frames: list[Received] = []
        self._begun = b""

    def told(self) -> list[str]:
        """Every frame so far, a line each."""
        return [_frame(frame) for frame in self.frames]

    def hear(self, data: bytes) -> list[str]:
        lines = []
        for frame in frames_of(data):
            self.frames.append(frame)
            if frame.opcode not in (0, 1):
                continue
            self._begun += frame.data
            if frame.fin:
                message, self._begun = json.loads(self._begun), b""
                lines.append(_event(message))
        return lines


def _frame(frame: Received) -> str:
    """Its opcode in words, and what it holds."""
    name = Opcode(frame.opcode).name.lower() + ("" if frame.fin else ", unfinished")
    if frame.opcode == Opcode.CLOSE:
        return f"{name} {int.from_bytes(frame.data[:2])} {frame.data[2:].decode()}"
    return f"{name} {frame.data.decode()}".rstrip()


def _block(block: bytes) -> str:
    """A block of an event stream, however its upstream wrote it."""
    if block.startswith(b":"):
        return "comment"
    fields = [line.split(b": ", 1) for line in block.split(b"\n")]
    event = json.loads(b"\n".join(value for field, value in fields if field == b"data"))
    if _attempt(event) is None:
        assert fields[0] == [b"event", event["type"].encode()], "an event of our own has its name"
    return _event(event)


def _event(event: dict[str, Any]) -> str:
    """An event: of an attempt, or in the gateway's own words."""
    if _attempt(event) is None:
        return _own(event)
    told = _wait(event["error"]) if "status" in event else ""
    return f"{_label(event)}{told}"


def _own(event: dict[str, Any]) -> str:
    if event["type"] == "response.failed":
        response = event["response"]
        return f"response.failed of {response['id']}, {response['error']['code']}"
    assert event["type"] == "error", event
    error, status = event["error"], event.get("status")
    return f"error {'' if status is None else f'{status} '}{error['code']}{_wait(error)}"


def _label(event: dict[str, Any]) -> str:
    """As `said.label`."""
    status = event.get("status")
    name = event.get("type") or STATUS_TYPES.get(str(status), "response.completed")
    error = event.get("error") or event.get("response", {}).get("error") or {}
    code = error.get("code") if name in CODED else None
    return " ".join(str(each) for each in (_attempt(event), name, code) if each)


def _attempt(event: dict[str, Any]) -> int | None:
    error = event.get("error")
    named: int | None = event.get("attempt", error.get("attempt") if error else None)
    return named


def _refusal(status: int, body: bytes, headers: dict[str, str]) -> str:
    """A whole error answer: our own has a request id in its body, an upstream's is its own."""
    own = json.loads(body) if headers["content-type"] == "application/json" else {}
    error = own.get("error") or {}
    yes = "yes" if headers["x-should-retry"] == "true" else "no"
    wait = headers.get("retry-after")
    after = "" if wait is None else f", retry after {wait}"
    if "request_id" not in own:
        return (
            f"{status} of the upstream, {error.get('code') or 'no code'}, retryable: {yes}{after}"
        )
    assert own["request_id"] == headers["x-request-id"]
    assert error["retryable"] is (yes == "yes")
    return f"{status} {error['code']}, retryable: {yes}{after}"


def _wait(error: dict[str, Any]) -> str:
    """What an error says of sending it again."""
    after = error.get("retry_after")
    yes = "yes" if error["retryable"] else "no"
    return f", retryable: {yes}{'' if after is None else f', retry after {after:g}'}"
