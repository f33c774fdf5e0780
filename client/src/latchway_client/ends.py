"""How a turn ends for its client: a result, or one failure, however quiet.

Only `response.completed` and `response.incomplete` are results. Every other end, the clean end of
a body and close code 1000 included, is a `Failure`, and reaches the application as `TurnFailed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from latchway_client.decide import Decision, Situation
from latchway_client.limits import NO_RESENDS, Limits
from latchway_client.request import State


class How(StrEnum):
    """The way in which a turn ended without a result."""

    FAILED_EVENT = "failed_event"
    """`response.failed`."""
    ERROR_EVENT = "error_event"
    """An `error` event, flat or nested."""
    HTTP_STATUS = "http_status"
    """An HTTP error status instead of a stream; on a WebSocket, a handshake that was refused."""
    NO_STREAM = "no_stream"
    """Status 200 with a body that has no event: JSON, HTML or nothing that we can read."""
    CLEAN_END = "clean_end"
    """The body ended as if all were well, without a terminal event."""
    CLOSED = "closed"
    """The server closed the WebSocket, with whatever code."""
    BROKEN = "broken"
    """The connection broke."""
    TIMED_OUT = "timed_out"
    """Nothing came for as long as the client waits."""
    NOT_CONNECTED = "not_connected"
    """No connection was made, so that nothing was sent."""


class Break(Exception):
    """What a transport met instead of a terminal event. It never leaves this library."""

    def __init__(
        self,
        how: How,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str = "",
        close_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.how, self.message = how, message
        self.status, self.headers, self.body = status, headers or {}, body
        self.close_code = close_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A turn's result."""

    status: str
    """`completed` or `incomplete`."""
    reason: str | None
    """Why it is incomplete: `max_output_tokens`, `content_filter`, …"""
    text: str
    response_id: str | None
    request_ids: tuple[str, ...]
    response: Mapping[str, Any] = field(repr=False)
    """The response object of the terminal event, with its usage."""

    @property
    def completed(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A turn's failure, with all that a client needs to decide what to do."""

    how: How
    after_output: bool
    text: str = field(repr=False)
    """The text that had come: partial, and perhaps shown already."""
    code: str | None
    message: str = field(repr=False)
    status: int | None
    close_code: int | None
    retryable: bool | None
    """May it help to send it again? None: nobody knows."""
    retry_after: float | None
    """Seconds that the server asks to wait."""
    request_ids: tuple[str, ...]
    response_id: str | None
    acted_on: frozenset[str]
    """Ids of the tool calls that were acted on."""
    state: State
    """What the server may have kept of the turn."""
    excerpt: str = field(repr=False)
    """The start of the event or body that told of the failure."""

    def situation(
        self, limits: Limits = NO_RESENDS, resent: int = 0, *, state_checked: bool = False
    ) -> Situation:
        """What `decide` asks for. `state_checked`: you looked, and the server kept nothing."""
        return Situation(
            saw_output=self.after_output,
            acted_on=bool(self.acted_on),
            state=State.NONE if state_checked else self.state,
            retryable=self.retryable,
            retry_after=self.retry_after,
            limits=limits,
            resent=resent,
        )


class TurnFailed(Exception):
    """A turn ended without a result. `failure` has everything; the rest is for convenience."""

    decision: Decision | None = None
    """Why `send` did not send it again; None where nobody asked."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure
        self.how = failure.how
        self.after_output = failure.after_output
        self.text = failure.text
        self.code = failure.code
        self.message = failure.message
        self.status = failure.status
        self.retryable = failure.retryable
        self.retry_after = failure.retry_after
        self.request_ids = failure.request_ids
        self.response_id = failure.response_id

    def __str__(self) -> str:
        """One line; the server's own words are last, for they may be long."""
        when = "after output" if self.after_output else "before output"
        named = (("code", self.code), ("status", self.status), ("response", self.response_id))
        words = [f"{name} {value}" for name, value in named if value is not None]
        words += [f"request {each}" for each in self.request_ids]
        return f"{', '.join([self.how, when, *words])}: {self.message}"
