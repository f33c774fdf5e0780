"""Which header fields pass the gateway, in both directions. What is not listed here does not pass.

Credentials, cookies and forwarding headers of a client never go up; cookies, the operator's
organization and rate limits never go down.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime

from latchway import __version__

CLIENT_HEADERS = frozenset(
    {
        "openai-beta",
        "originator",
        "session-id",
        "thread-id",
        "traceparent",
        "tracestate",
        "x-client-request-id",
        "x-codex-beta-features",
        "x-codex-turn-metadata",
        "x-codex-turn-state",
        "x-codex-window-id",
    }
)
"""Of a client's request, passed upstream: what features it wants, and what correlates its turns."""

ANSWER_HEADERS = ("openai-processing-ms", "openai-version", "retry-after", "x-codex-turn-state")
"""Of an upstream's answer, passed to the client."""

VALUE_CHARACTERS = 8192
"""Of one value: common servers refuse a longer line, and so would the other side."""

REQUEST_ID_CHARACTERS = 256
"""Of an upstream's request id, which goes into the log."""

USER_AGENT = f"latchway/{__version__}"


def sound(value: str) -> bool:
    """Is the value one line of printable ASCII? Nothing else can break a head or a log line."""
    return len(value) <= VALUE_CHARACTERS and value.isascii() and value.isprintable()


def request_fields(
    *, host: str, streamed: bool, length: int, client: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """All header fields of a request but `authorization`."""
    passed = ((name.lower(), value) for name, value in client)
    return [
        ("host", host),
        ("content-type", "application/json"),
        ("accept", "text/event-stream" if streamed else "application/json"),
        ("accept-encoding", "identity"),
        ("content-length", str(length)),
        ("user-agent", USER_AGENT),
        *((name, value) for name, value in passed if name in CLIENT_HEADERS and sound(value)),
    ]


def answer_fields(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Those of an answer's header fields that may reach the client."""
    found = ((name, headers.get(name)) for name in ANSWER_HEADERS)
    return tuple((name, value) for name, value in found if value is not None and sound(value))


def request_id(headers: Mapping[str, str]) -> str | None:
    """The upstream's own name for the request, if it is fit for a log."""
    value = headers.get("x-request-id", "")
    return value if value and len(value) <= REQUEST_ID_CHARACTERS and sound(value) else None


def keep_alive_seconds(headers: Mapping[str, str]) -> float | None:
    """`timeout` of a `Keep-Alive` field: how long the server keeps an idle connection."""
    for part in headers.get("keep-alive", "").split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == "timeout":
            return _seconds(value)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from whole seconds or an HTTP date (RFC 9110 10.2.3); None: not said."""
    value = headers.get("retry-after", "").strip()
    wait = _seconds(value)
    return wait if wait is not None else _seconds_until(value)


def _seconds(value: str) -> float | None:
    if not (value.isascii() and value.replace(".", "", 1).isdigit()):
        return None
    seconds = float(value)
    return seconds if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float | None:
    """Seconds from now to an HTTP date, 0 if it is past. By the wall clock, as the date is."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
