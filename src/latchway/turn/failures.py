"""Every way an attempt can fail, one row each, and which code is what (R2).

The code decides, never the error's `type` nor its message. An explicit `retryable` mark wins over
the table of codes.
"""

from __future__ import annotations

from dataclasses import dataclass

from latchway.wire.frame import Answer, Kind, Note


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail. `name` is the log's `failure`; `code` is the gateway's own, None where the
    upstream's failure is delivered as it is."""

    name: str
    rule: str
    replayable: bool
    code: str | None


RETRYABLE_EVENT = Failure("retryable_event", "R2.1", True, None)
REDIRECT = Failure("retryable_event", "R2.1", True, "stream_read_error")
ROUTE_REFUSED = Failure("route_refused", "R2.1", True, "upstream_auth_error")
READ_ERROR_BEFORE_FIRST = Failure("read_error", "R2.2", True, "stream_read_error")
READ_ERROR_AFTER_FIRST = Failure("read_error", "R2.12", False, "stream_read_error")
FIRST_EVENT_TIMEOUT = Failure("first_event_timeout", "R2.6", False, "first_event_timeout")
TIMED_OUT_UPSTREAM = Failure("first_event_timeout", "R2.6", False, None)
IDLE_TIMEOUT = Failure("idle_timeout", "R2.15", False, "stream_idle_timeout")
BUFFER_OVERFLOW = Failure("buffer_overflow", "R2.7", False, "upstream_stream_buffer_limit")
DETERMINISTIC = Failure("deterministic", "R2.9", False, None)
CLIENT_GONE = Failure("client_disconnected", "R2.8", False, "client_disconnected")
GATEWAY_STOPPED = Failure("gateway_stopped", "R2.17", False, None)

RETRYABLE_CODES = frozenset({
    # overloaded, broken inside, or limited for a while
    "server_error", "model_error", "server_is_overloaded", "slow_down", "overloaded",
    "overloaded_error", "rate_limit_exceeded", "too_many_requests", "vector_store_timeout",
    "timeout", "websocket_connection_limit_reached",
    # about one account or one place: another route may serve
    "insufficient_quota", "usage_limit_reached", "usage_not_included", "model_not_found",
    "data_residency_mismatch", "invalid_api_key",
})  # fmt: skip

FINAL_CODES = frozenset({
    "context_length_exceeded", "exceed_context_size_error", "bio_policy", "cyber_policy",
    "misalignment_policy_violation", "image_content_policy_violation", "content_policy_violation",
    "invalid_prompt", "invalid_request", "invalid_request_error", "invalid_encrypted_content",
    "invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url",
    "invalid_image_mode", "image_too_large", "image_too_small", "image_parse_error",
    "image_file_too_large", "image_file_not_found", "unsupported_image_media_type",
    "empty_image_file", "failed_to_download_image", "previous_response_not_found",
    "conversation_not_found", "response_not_found", "unsupported_parameter", "unsupported_value",
    "missing_required_parameter", "request_too_large", "string_above_max_length",
    "invalid_type", "invalid_value",
})  # fmt: skip

FINAL_SUFFIXES = ("not_found",)
FINAL_PREFIXES = ("invalid_", "image_", "empty_", "unsupported_", "failed_to_download_")
FINAL_PARTS = ("_policy",)
RETRYABLE_PREFIXES = ("overloaded",)

TIMEOUT_STATUSES = frozenset({408, 504, 524})
RETRYABLE_STATUSES = frozenset(
    {402, 403, 429, 500, 502, 503, 520, 521, 522, 523, 525, 526, 529, 530}
)


def known(code: str | None) -> bool | None:
    """Is this code retryable? None: the table does not know it."""
    if code is None:
        return None
    if code in RETRYABLE_CODES:
        return True
    if code in FINAL_CODES:
        return False
    if code.startswith(RETRYABLE_PREFIXES):
        return True
    if code.startswith(FINAL_PREFIXES) or code.endswith(FINAL_SUFFIXES):
        return False
    return False if any(part in code for part in FINAL_PARTS) else None


def of_event(kind: Kind, note: Note) -> Failure:
    """The failure that a `response.failed` or an `error` event is (R1.4, R2.1, R2.9).

    Unknown and unmarked: `response.failed` is retryable, an `error` event is not.
    """
    retryable = note.retryable
    if retryable is None:
        retryable = known(note.code)
    if retryable is None:
        retryable = kind is Kind.FAILED
    return RETRYABLE_EVENT if retryable else DETERMINISTIC


def of_answer(answer: Answer) -> Failure:
    """The failure that an HTTP answer is: the first line that fits (R2, "HTTP error answers")."""
    if answer.status in TIMEOUT_STATUSES:
        return TIMED_OUT_UPSTREAM
    if answer.status == 401:
        return ROUTE_REFUSED
    if 300 <= answer.status < 400:
        return REDIRECT
    retryable = answer.note.retryable
    if retryable is None:
        retryable = known(answer.note.code)
    if retryable is None:
        retryable = answer.status in RETRYABLE_STATUSES
    return RETRYABLE_EVENT if retryable else DETERMINISTIC
