"""An upstream's own error, where it must become an event or a frame: carried over, and completed.

What the upstream said stands; added is what clients count on (docs/http.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from latchway.wire.errors import (
    UPSTREAM_STATUS,
    ascii_json,
    bounded_wait,
    error_object,
    error_type,
    may_be_sent_again,
    status_of,
)
from latchway.wire.frame import Answer, Frame, Note

CARRIED_ERROR_BYTES = 64 << 10
"""Of an upstream's error object as JSON; a larger one is no message but a mistake, and is cut to
its four known members."""

MESSAGE_CHARACTERS = 4096
"""Of a message in an error object that was cut."""


_OF_THE_EVENT = frozenset({"sequence_number", "stream_id"})
"""Members of a flat `error` event that belong to the event, not to its error."""


def carried(answer: Answer, retryable: bool) -> tuple[int, dict[str, Any]]:
    """An upstream's HTTP error answer as (status, error object), to become an event or a frame.

    Its own error object, completed; without one, `upstream_error` with the upstream's status. An
    error that came under a status below 400 is a 502.
    """
    status = answer.status if 400 <= answer.status <= 599 else UPSTREAM_STATUS
    note = answer.note
    if note.error is not None:
        return status, _complete(note.error, status, retryable, note.retry_after)
    error = error_object("upstream_error", retryable=retryable, retry_after=note.retry_after)
    return status, {**error, "type": error_type(status)}


def wrap_ws_error(frame: Frame, request_id: str, retryable: bool) -> bytes:
    """An upstream's own `error` event, as a WebSocket frame: it always has an integer `status`.

    One that has a status passes unchanged. Clients ignore one that has none, and wait for
    minutes: it gets one, and its error, flat or nested, stands nested.
    """
    event = _event(frame.data)
    if type(event.get("status")) is int:
        return frame.data
    note = frame.note or Note()
    status = status_of(note.code)
    wrapped = {
        "type": "error",
        "status": status,
        "error": _complete(note.error or {}, status, retryable, note.retry_after),
        "request_id": request_id,
    }
    if type(event.get("sequence_number")) is int:
        wrapped["sequence_number"] = event["sequence_number"]
    return ascii_json(wrapped)


def _complete(
    own: Mapping[str, Any], status: int, retryable: bool, retry_after: float | None
) -> dict[str, Any]:
    """An upstream's error object with what clients count on; what it has itself stands."""
    error = _bounded({key: value for key, value in own.items() if key not in _OF_THE_EVENT})
    code = error.setdefault("code", None)
    error.setdefault("param", None)
    if not isinstance(error.get("message"), str):
        error["message"] = "The upstream reported an error without a message."
    if not isinstance(error.get("type"), str) or error["type"] == "error":
        error["type"] = error_type(status)
    error["retryable"] = retryable and may_be_sent_again(code)
    error["retry_after"] = bounded_wait(retry_after)
    return error


def _bounded(error: dict[str, Any]) -> dict[str, Any]:
    """The object itself if it can be said as strict JSON of sane size, else its known members."""
    try:
        if len(ascii_json(error)) <= CARRIED_ERROR_BYTES:
            return error
    except (ValueError, RecursionError):  # NaN from a lenient reader; nested without end
        pass
    known = {key: error[key] for key in ("message", "type", "param", "code") if key in error}
    return {
        key: value[:MESSAGE_CHARACTERS]
        for key, value in known.items()
        if isinstance(value, str)
    }  # fmt: skip


def _event(data: bytes) -> dict[str, Any]:
    """The event as a dictionary, empty if it is no JSON object."""
    try:
        event = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}
