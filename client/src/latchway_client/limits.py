"""The caller's own limits, and those of this library, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a caller is willing to go. As it stands: no resend at all."""

    resends: int = 0
    """New requests for one turn, after the first."""
    longest_wait: float = 60.0
    """Seconds before a resend. What a server asks for beyond it is a no."""
    first_wait: float = 1.0
    """Seconds before the first resend where the server asks for none; doubled each time."""


NO_RESENDS = Limits()

TIMEOUT_SECONDS = 30.0
"""Without a byte over HTTP, and until a connection is made. A gateway that keeps the connection
with comments sends one more often; without them, raise it for models that think for long."""

EVENT_TIMEOUT_SECONDS = 330.0
"""Without an event on a WebSocket, where pings cannot be seen. A little more than the 300 seconds
after which a gateway gives up on its own upstream, so that its word comes first."""

CLOSE_SECONDS = 2.0
"""For the other side to answer when a socket is closed. The turn is over; nothing is lost."""

EVENT_BYTES = 64 * 1024 * 1024
"""One SSE line or event. An image in base64 is far smaller; what is longer is no stream."""

BODY_BYTES = 64 * 1024
"""Kept of a body until an event is found in it. An error, or a whole response, is shorter."""

EXCERPT_CHARACTERS = 300
"""Of an event in a failure: enough to see what it was, and fit for a log line."""
