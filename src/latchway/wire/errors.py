"""Every error that the gateway itself says, and how it looks on each wire.

One row a code: `docs/errors.md` is printed from it, and an error for clients that has no row here
does not exist. What an upstream says keeps its own code and words (wire/carried.py).

All of it leaves as JSON with nothing but ASCII in it: no text, from wherever it came, can end a
line of an event stream.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

RETRY_AFTER_MAX_S = 60
"""Seconds. Some clients do not retry at all, others at once, when told to wait for longer."""

RATE_LIMIT_WAIT_S = 1
"""Seconds to wait when a limit of our own does not know better: a turn's place is soon free."""


class Retry(Enum):
    """What a row says about sending the request again (docs/errors.md)."""

    NO = "no"
    YES = "yes"
    BY_RULE = "by rule (b)"
    """The caller knows whether the failure left anything behind."""
    IF_NOT_CALLED = "if not called"


@dataclass(frozen=True, slots=True)
class Row:
    """`status`: the HTTP status, None for the upstream's own. `message`: what, and the mend."""

    status: int | None
    retry: Retry
    message: str


TABLE: Mapping[str, Row] = {
    "invalid_api_key": Row(
        401, Retry.NO, "The API key is missing, wrong or revoked; send `Authorization: Bearer KEY`."
    ),
    "insufficient_balance": Row(
        402, Retry.NO, "The key's balance does not cover what this request can cost; add credit."
    ),
    "budget_exceeded": Row(
        429, Retry.NO, "A spending limit of this key is used up; raise it or wait until it frees."
    ),
    "model_not_found": Row(
        404, Retry.NO, "This key has no such model; `GET /v1/models` lists those it may use."
    ),
    "response_not_found": Row(
        404, Retry.NO, "No such response was made with a key of this owner; check the id."
    ),
    "not_found": Row(404, Retry.NO, "There is nothing at this path; turns are `/v1/responses`."),
    "method_not_allowed": Row(
        405, Retry.NO, "This path does not take this method; a turn is `POST /v1/responses`."
    ),
    "unsupported_media_type": Row(
        415, Retry.NO, "Send the body as `application/json`, without a content encoding."
    ),
    "previous_response_not_found": Row(
        400,
        Retry.NO,
        "No such previous response was made with a key of this owner; send the whole input.",
    ),
    "conversation_not_found": Row(
        400, Retry.NO, "No such conversation was made with a key of this owner; check the id."
    ),
    "invalid_json": Row(400, Retry.NO, "The body is not valid JSON; send one JSON object."),
    "invalid_request": Row(400, Retry.NO, "The request is not valid; mend the named field."),
    "unsupported_parameter": Row(
        400, Retry.NO, "The gateway does not support the named field here; leave it out."
    ),
    "websocket_connection_limit_reached": Row(
        400, Retry.NO, "This connection has reached its greatest age; open a new one to go on."
    ),
    "request_too_large": Row(
        413, Retry.NO, "The request is larger than the limit here or upstream; send less."
    ),
    "rate_limit_exceeded": Row(429, Retry.YES, "Too many requests are waiting; send it later."),
    "stream_read_error": Row(
        502,
        Retry.BY_RULE,
        "The upstream's stream broke before its end; see `retryable` before sending it again.",
    ),
    "upstream_stream_buffer_limit": Row(
        502,
        Retry.NO,
        "The upstream sent more than the gateway may hold; shorten instructions and tools, or "
        "ask the operator to raise the limit.",
    ),
    "upstream_error": Row(
        None,
        Retry.BY_RULE,
        "The upstream refused the request without saying why; see `retryable` before sending it "
        "again.",
    ),
    "first_event_timeout": Row(
        504,
        Retry.NO,
        "The upstream did not begin to answer in time and may still be working; send it again "
        "only if it may run twice.",
    ),
    "stream_idle_timeout": Row(
        504,
        Retry.NO,
        "The upstream fell silent and may still be working; send it again only if it may run "
        "twice.",
    ),
    "upstream_auth_error": Row(
        502,
        Retry.NO,
        "The upstream did not accept the gateway's own credential; the operator must mend it.",
    ),
    "websocket_response_failed": Row(
        500, Retry.BY_RULE, "The gateway could not choose a second route; send the request again."
    ),
    "response_failed": Row(
        500, Retry.BY_RULE, "The gateway could not choose a second route; send the request again."
    ),
    "no_route_available": Row(
        503, Retry.YES, "No route for this model is configured and enabled; ask the operator."
    ),
    "ledger_unavailable": Row(
        503, Retry.IF_NOT_CALLED, "The ledger cannot record this turn now; try it again later."
    ),
    "shutting_down": Row(
        503, Retry.IF_NOT_CALLED, "The gateway is shutting down; open a new connection."
    ),
    "internal_error": Row(
        500,
        Retry.NO,
        "A fault of the gateway itself; nothing was charged. Give the operator the request id.",
    ),
}

UPSTREAM_STATUS = 502
"""Of an upstream's failure whose own status is none that an error can have."""
UNTOLD_STATUS = 500
"""Of an upstream's error event whose code no row knows."""


class RequestFault(Exception):
    """A request that is refused before anything is called. `code` is a row of the table."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.param = code, message, param


def status_of(code: str | None, untold: int = UNTOLD_STATUS) -> int:
    """The HTTP status of the code's row; `untold` without a row or when the row has none."""
    row = TABLE.get(code) if isinstance(code, str) else None
    return untold if row is None or row.status is None else row.status


def may_be_sent_again(code: str | None) -> bool:
    """False: the code's row says a flat no, whoever said the code and whatever rule (b) says."""
    row = TABLE.get(code) if isinstance(code, str) else None
    return row is None or row.retry is not Retry.NO


def error_type(status: int) -> str:
    """`error.type` for an HTTP status (docs/http.md)."""
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"


def error_object(
    code: str,
    message: str | None = None,
    param: str | None = None,
    *,
    retryable: bool = False,
    retry_after: float | None = None,
) -> dict[str, Any]:
    """The error of one of our codes: message, type, param, code, retryable, retry_after.

    `retryable` is the caller's judgement; a row that says a flat yes or no wins over it.
    `retry_after`: seconds, cut to `RETRY_AFTER_MAX_S`. KeyError: a code without a row.
    """
    row = TABLE[code]
    wait = bounded_wait(retry_after)
    text = row.message if message is None else message
    if code == "rate_limit_exceeded":
        wait = RATE_LIMIT_WAIT_S if wait is None else wait
        text = _with_wait(text, wait)
    return {
        "message": text,
        "type": error_type(UPSTREAM_STATUS if row.status is None else row.status),
        "param": param,
        "code": code,
        "retryable": row.retry is Retry.YES or (row.retry is not Retry.NO and retryable),
        "retry_after": wait,
    }


def http_body(error: Mapping[str, Any], request_id: str) -> bytes:
    """The JSON body of an HTTP error answer."""
    return ascii_json({"error": error, "request_id": request_id})


def sse_failure(
    error: Mapping[str, Any],
    request_id: str,
    sequence: int,
    response_id: str | None = None,
    created_at: float | None = None,
    model: str | None = None,
) -> bytes:
    """The end of an event stream in the gateway's own words: whole SSE blocks.

    An `error` event numbered `sequence`; then, if the client knows a response id,
    `response.failed` for it with the next number (R5).
    """
    told = {"type": "error", "sequence_number": sequence, "error": error}
    blocks = _block("error", {**told, "request_id": request_id})
    if response_id is None:
        return blocks
    response = _failed_response(error, response_id, created_at, model)
    failed = {"type": "response.failed", "sequence_number": sequence + 1, "response": response}
    return blocks + _block("response.failed", failed)


def ws_failure(
    error: Mapping[str, Any], status: int, request_id: str, stream_id: str | None = None
) -> bytes:
    """One `error` frame; `stream_id` is echoed to a client that asked for a lane (R8)."""
    frame = {"type": "error", "status": status, "error": error, "request_id": request_id}
    if stream_id is not None:
        frame["stream_id"] = stream_id
    return ascii_json(frame)


def bounded_wait(seconds: float | None) -> int | float | None:
    """A wait that every client accepts, or None if it is unknown or makes no sense."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    bounded = min(seconds, RETRY_AFTER_MAX_S)
    return int(bounded) if bounded == int(bounded) else bounded


def _with_wait(message: str, seconds: float) -> str:
    """Some clients find the wait in the message alone, by these words."""
    if "try again in" in message.lower():
        return message
    return f"{message} Please try again in {seconds} s."


def _failed_response(
    error: Mapping[str, Any], response_id: str, created_at: float | None, model: str | None
) -> dict[str, Any]:
    """The response object of a `response.failed` of our own: all that clients' types require."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": _wholesome(created_at),
        "status": "failed",
        "error": {"code": error["code"], "message": error["message"]},
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model or "",
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _wholesome(created_at: float | None) -> int | float:
    """Unix seconds, without a fraction if there is none; 0 when no upstream has said."""
    if created_at is None or not math.isfinite(created_at):
        return 0
    return int(created_at) if created_at == int(created_at) else created_at


def _block(name: str, data: Mapping[str, Any]) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + ascii_json(data) + b"\n\n"


def ascii_json(value: Any) -> bytes:
    """Strict JSON in ASCII. ValueError: a number that JSON does not have."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
