"""A way for a turn to go wrong, and the words in which the table says what R2 answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clients.outcome import COMPLETED, End, Kind, Outcome

Reply = dict[str, Any]

LIFECYCLE = ("response.created", "response.in_progress")
OPENED = ("response.output_item.added", "response.content_part.added")
DELTA = "response.output_text.delta"
DONE = ("response.output_text.done", "response.content_part.done", "response.output_item.done")
ANSWER = (*LIFECYCLE, *OPENED, DELTA, DELTA, *DONE)
HALF = (*LIFECYCLE, *OPENED, DELTA)

START = ["created", "in_progress"]
TEXT = [*START, "item", {"text": "Half"}]

FIRST_ANSWER: Reply = {
    "events": [*START, {"say": "First served."}, {"completed": {"input": 10, "output": 5}}]
}
FIRST_CHARGE = "0.000030000"
"""10 tokens in at 1 USD a million, 5 out at 4."""
SECOND_ANSWER: Reply = {
    "events": [*START, {"say": "Second served."}, {"completed": {"input": 11, "output": 7}}]
}
SECOND_CHARGE = "0.000039000"

CONTINUED = "the id of an earlier response"
"""In a request: a run puts the id of a stored response of this model there."""

SHORT = 0.4
"""Seconds. Of the clock that a way is about; all its other clocks are far away."""


@dataclass(frozen=True, slots=True)
class Way:
    """One model of the gateway's, with two routes."""

    name: str
    rule: str
    first: Reply | str
    """What the first route's upstream does, or the name of a place where no call begins."""
    streamed: Outcome
    body: Outcome | None = None
    """What R2 says when the request is not streamed; None: not asked."""
    second: Reply | str | None = field(default_factory=lambda: SECOND_ANSWER)
    """None: there is one route."""
    request: dict[str, Any] = field(default_factory=dict)
    route: dict[str, Any] = field(default_factory=dict)
    """Fields of both routes in the configuration."""
    second_route: dict[str, Any] = field(default_factory=dict)
    failpoint: str = ""
    """Of the gateway that this way needs."""


def events(*steps: Any) -> Reply:
    return {"events": list(steps)}


def refusal(status: int, code: str) -> Reply:
    """An HTTP error answer, as providers send it."""
    error = {"message": "Scripted.", "type": "server_error", "param": None, "code": code}
    return {"status": status, "body": {"error": error}}


def replayed(rule: str, calls: tuple[int, int] = (1, 1)) -> Outcome:
    """The second route answers, and its usage is the bill."""
    return Outcome(COMPLETED, (f"{rule} replay",), calls, ANSWER, "Second served.", SECOND_CHARGE)


def failed(code: str, *verdicts: str, before: tuple[str, ...] = LIFECYCLE, **more: Any) -> Outcome:
    """An upstream's own `response.failed` is delivered."""
    return Outcome(End(Kind.FAILED, code), verdicts, before=before, **more)


def answered(status: int, code: str, *verdicts: str, **more: Any) -> Outcome:
    """An upstream's own HTTP error is delivered."""
    return Outcome(End(Kind.ANSWER, code, status), verdicts, **more)


def own(status: int, code: str, *verdicts: str, **more: Any) -> Outcome:
    """The gateway says what went wrong."""
    return Outcome(End(Kind.OWN, code, status), verdicts, **more)


def half(end: End, *verdicts: str, **more: Any) -> Outcome:
    """Text was delivered, then the attempt broke."""
    return Outcome(end, verdicts, before=HALF, text="Half", **more)


BUSY_CODE = "server_is_overloaded"
BUSY = {"failed": BUSY_CODE}
BUSY_EVENTS = events(*START, BUSY)
SILENT = events("silence")
LONG = "x" * 100_000
"""More than `pre_output_buffer_bytes` of the configuration that is tried."""

FIRST_SERVES = Outcome(COMPLETED, (), (1, 0), ANSWER, "First served.", FIRST_CHARGE)
REPLAYED = replayed("R2.1")
REREAD = replayed("R2.2")
NEVER_CALLED = replayed("R2.2", (0, 1))
TIMED_OUT = own(504, "first_event_timeout", "R2.6 failure_final")
BROKE = End(Kind.OWN, "stream_read_error", 502)
FELL_SILENT = End(Kind.OWN, "stream_idle_timeout", 504)
AGAIN = ("R2.1 replay", "R2.3 already_replayed")
BOTH = (1, 1)

ERROR_UNDER_200 = {"body": {"error": {"message": "Busy.", "code": "slow_down"}}}
REDIRECT = {"status": 307, "headers": {"location": "http://127.0.0.1:9/v1/responses"}}
MARKED = {"error": {"code": "strange", "retryable": True}}
QUOTA = ({"error": "insufficient_quota"}, {"failed": "insufficient_quota"})
