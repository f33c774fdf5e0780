"""Heads and bodies of HTTP answers, as bytes (RFC 9112)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import msgspec

from latchway.wire import errors
from latchway.wire.frame import Frame

JSON_TYPE = "application/json"

STREAM_HEADERS = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
)

LAST_CHUNK = b"0\r\n\r\n"

RENAMED = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
"""Phrases as RFC 9110 has them; the library's depend on its version, and bytes must not."""

NUMBER = b'"sequence_number"'

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole answer that is no turn's."""

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    retryable: bool = False
    """Of an error: sending the request again is safe and may help."""
    retry_after: float | None = None
    """In how many seconds, where it is known."""


def head(status: int, headers: Iterable[Header]) -> bytes:
    """A status line and headers, up to and with the empty line."""
    lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(status: int, body: bytes, headers: Iterable[Header], *, close: bool) -> bytes:
    """A whole answer with its length. `close`: the connection ends behind it."""
    rest = [("connection", "close")] if close else []
    return head(status, [*headers, ("content-length", str(len(body))), *rest]) + body


def error_headers(request_id: str, retryable: bool, retry_after: float | None) -> list[Header]:
    """What every error answer has (docs/http.md)."""
    headers = [
        ("content-type", JSON_TYPE),
        ("x-request-id", request_id),
        ("x-should-retry", "true" if retryable else "false"),
    ]
    wait = errors.bounded_wait(retry_after)
    if wait is not None:
        headers.append(("retry-after", str(-int(-wait // 1))))
    return headers


class _Numbered(msgspec.Struct):
    sequence_number: int | None = None


def last_numbered(frames: Sequence[Frame]) -> bytes | None:
    """The last event's JSON that speaks of a sequence number; neutral and broken ones may not."""
    last = frames[-1].data
    if NUMBER in last:
        return last
    payloads = [payload for frame in frames for payload in frame.payloads()]
    return next((payload for payload in reversed(payloads) if NUMBER in payload), None)


def sequence_after(numbered: bytes | None) -> int:
    """The sequence number that follows an event's; 0 if there was none or it has no number."""
    if numbered is None:
        return 0
    try:
        number = msgspec.json.decode(numbered, type=_Numbered).sequence_number
    except (msgspec.DecodeError, msgspec.ValidationError):
        return 0
    return 0 if number is None else number + 1


@cache
def _phrase(status: int) -> str:
    try:
        return RENAMED.get(status) or HTTPStatus(status).phrase
    except ValueError:
        return "Status"
