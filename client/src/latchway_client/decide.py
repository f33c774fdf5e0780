"""May this turn be sent again? One function answers, and gives its reason.

A new request is the application's decision: it may run the work twice, and be paid twice. So the
order of the questions is their rank, and the first that holds names the reason. Nothing else in
this library sends anything again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from latchway_client.limits import Limits
from latchway_client.request import State


class Reason(StrEnum):
    """Why a new request is allowed, or not."""

    OUTPUT_SEEN = "output_seen"
    CALL_ACTED_ON = "call_acted_on"
    STORED = "stored"
    CONTINUED = "continued"
    NOT_RETRYABLE = "not_retryable"
    RETRYABLE_UNKNOWN = "retryable_unknown"
    WAIT_TOO_LONG = "wait_too_long"
    LIMIT_REACHED = "limit_reached"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The facts when a turn has failed."""

    saw_output: bool
    acted_on: bool
    """A tool call of the turn was acted on."""
    state: State
    retryable: bool | None
    retry_after: float | None
    limits: Limits
    resent: int
    """New requests that were made for this turn already."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer. `wait`: seconds before the new request; 0 where it is not allowed."""

    reason: Reason
    wait: float = 0.0

    @property
    def allowed(self) -> bool:
        return self.reason is Reason.ALLOWED

    @property
    def sentence(self) -> str:
        return SENTENCE[self.reason]


def decide(s: Situation) -> Decision:
    """Answer for this situation. Total: every situation has exactly one reason."""
    if s.saw_output:
        return Decision(Reason.OUTPUT_SEEN)
    if s.acted_on:
        return Decision(Reason.CALL_ACTED_ON)
    if s.state is State.STORED:
        return Decision(Reason.STORED)
    if s.state is State.CONTINUED:
        return Decision(Reason.CONTINUED)
    if s.retryable is False:
        return Decision(Reason.NOT_RETRYABLE)
    if s.retryable is None:
        return Decision(Reason.RETRYABLE_UNKNOWN)
    if s.retry_after is not None and s.retry_after > s.limits.longest_wait:
        return Decision(Reason.WAIT_TOO_LONG)
    if s.resent >= s.limits.resends:
        return Decision(Reason.LIMIT_REACHED)
    return Decision(Reason.ALLOWED, wait_of(s))


def wait_of(s: Situation) -> float:
    """The server's own wish, or a wait that doubles."""
    if s.retry_after is not None:
        return s.retry_after
    return min(s.limits.first_wait * 2.0**s.resent, s.limits.longest_wait)


SENTENCE = {
    Reason.OUTPUT_SEEN: "output was seen: a new request would duplicate it",
    Reason.CALL_ACTED_ON: "a tool call of the turn was acted on: it would be done twice",
    Reason.STORED: "the server may have stored the response: look before you send again",
    Reason.CONTINUED: "the conversation may have gone on: look before you send again",
    Reason.NOT_RETRYABLE: "a new request cannot help, or the first may still be running",
    Reason.RETRYABLE_UNKNOWN: "nobody says that a new request is safe",
    Reason.WAIT_TOO_LONG: "the server asks for a longer wait than the caller accepts",
    Reason.LIMIT_REACHED: "the caller's limit of new requests is reached",
    Reason.ALLOWED: "nothing was seen, done or kept: a new request is safe and may help",
}
