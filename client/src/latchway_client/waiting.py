"""How long a server asks a client to wait before it sends again.

In its error, or in headers: milliseconds, seconds, or a date, which is measured from the answer's
own date, so that neither clock has to be right and none is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from latchway_client.events import Event, number_of, said


def retry_after(event: Event, headers: Mapping[str, str]) -> float | None:
    """Seconds; None where the server does not say."""
    in_error = said(event, number_of, "retry_after")
    if in_error is not None:
        return in_error
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return _between(headers.get("date"), value) if seconds is None else seconds


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


def _between(earlier: str | None, later: str | None) -> float | None:
    """Seconds from one HTTP date to another."""
    try:
        dates = [parsedate_to_datetime(each or "") for each in (earlier, later)]
        seconds = (dates[1] - dates[0]).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0)
