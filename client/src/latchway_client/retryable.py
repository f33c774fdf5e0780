"""May it help to send a failed turn again, where the server does not say so itself?

The server's own word comes first: `retryable` in its error, then the header `x-should-retry`. Not
every server has them. The table below is for the others, and it is conservative: yes only where
the server ended the turn itself or never began it, no where another request meets the same
answer, and else nobody knows, for the first request may still be running.
"""

from __future__ import annotations

from typing import Final

AGAIN: Final = frozenset({
    "model_error", "overloaded", "overloaded_error", "rate_limit_exceeded",
    "server_error", "server_is_overloaded", "slow_down", "too_many_requests",
    "vector_store_timeout", "websocket_connection_limit_reached",
})  # fmt: skip
"""Codes of a server that was busy or broke inside, and said so. The last one ends a socket's life:
a new request goes over a new one."""

NEVER: Final = frozenset({
    "billing_hard_limit_reached", "budget_exceeded", "context_length_exceeded",
    "exceed_context_size_error", "insufficient_balance", "insufficient_quota", "request_too_large",
    "missing_required_parameter", "string_above_max_length", "usage_limit_reached",
    "usage_not_included",
})  # fmt: skip
"""Codes that another request meets again."""

NEVER_STARTS: Final = (
    "invalid_", "image_", "empty_", "unsupported_", "failed_to_download_",
)  # fmt: skip
NEVER_ENDS: Final = ("not_found",)
NEVER_PARTS: Final = ("_policy",)

STATUSES: Final[dict[int, bool | None]] = {429: True, 503: True, 408: None, 409: None, 425: None}
"""By HTTP status. Of the others, 4xx: no; 5xx: nobody knows, for the work may have begun."""

CLOSE_CODES: Final = {1003: False, 1007: False, 1008: False, 1009: False}
"""By close code of a WebSocket: what was sent was refused. Of all others nobody knows."""


def by_code(code: str | None) -> bool | None:
    """What the table of codes says."""
    if code is None:
        return None
    if code in AGAIN:
        return True
    if code in NEVER or code.startswith(NEVER_STARTS) or code.endswith(NEVER_ENDS):
        return False
    return False if any(part in code for part in NEVER_PARTS) else None


def by_status(status: int | None) -> bool | None:
    """What the table of statuses says."""
    if status is None or status in STATUSES:
        return STATUSES.get(status or 0)
    return False if 400 <= status < 500 else None
