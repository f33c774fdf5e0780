"""How a turn can end for its client, and what each transport makes of it (R5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Whose word ends the turn."""

    RESULT = "a result of the upstream"
    FAILED = "the upstream's response.failed"
    ERROR = "the upstream's error event, alone"
    PAIR = "the upstream's error event, then its response.failed"
    ANSWER = "the upstream's HTTP error status"
    OWN = "an error of the gateway's own"


@dataclass(frozen=True, slots=True)
class End:
    """`status`: HTTP, of an ANSWER or an OWN one. `socket_code`: where a WebSocket has another."""

    kind: Kind
    code: str | None = None
    status: int = 200
    socket_code: str | None = None


COMPLETED = End(Kind.RESULT)


@dataclass(frozen=True, slots=True)
class Wire:
    """What goes over the wire to a client: a status with a body, or the types of events."""

    types: tuple[str, ...]
    code: str | None
    status: int | None
    """Over HTTP the status line's; over a WebSocket the error frame's, None where not asked."""
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What R2 says about one way to fail. `before`: types of events that come before the end."""

    end: End
    verdicts: tuple[str, ...]
    """Of each attempt that failed: rule and verdict, as in its record."""
    calls: tuple[int, int] = (1, 0)
    """Made at the first route's upstream and at the second's."""
    before: tuple[str, ...] = ()
    text: str = ""
    charge: str = "0.000000000"
    early_headers: bool = False
    """The status line has gone out before the failure, with comments after it."""
    retryable: bool = False
    """May a client send it again, as the gateway says?"""


UNTOLD_STATUS = 500
"""Of an error frame that the upstream sent as an event, without a status."""

LAST = {
    Kind.RESULT: ("response.completed",),
    Kind.FAILED: ("response.failed",),
    Kind.ERROR: ("error",),
    Kind.PAIR: ("error", "response.failed"),
}


def over_http(outcome: Outcome) -> Wire:
    """Of a streamed turn."""
    end = outcome.end
    if end.kind in LAST:
        return Wire(outcome.before + LAST[end.kind], end.code, 200, outcome.text)
    if outcome.before:
        pair = outcome.before + LAST[Kind.PAIR]
        return Wire(pair, end.code, 200, outcome.text)
    if outcome.early_headers:
        return Wire(LAST[Kind.ERROR], end.code, 200, "")
    return Wire((), end.code, end.status, "")


def over_websocket(outcome: Outcome) -> Wire:
    """One terminal frame a turn, where HTTP may have a pair or a status."""
    end = outcome.end
    code = end.socket_code or end.code
    if end.kind is Kind.PAIR:
        return Wire((*outcome.before, "response.failed"), code, None, outcome.text)
    if end.kind in (Kind.RESULT, Kind.FAILED):
        return Wire(outcome.before + LAST[end.kind], code, None, outcome.text)
    status = UNTOLD_STATUS if end.kind is Kind.ERROR else end.status
    return Wire((*outcome.before, "error"), code, status, outcome.text)


def as_body(outcome: Outcome) -> Wire:
    """Of a turn that is not streamed: `types` is the response's status, empty for an error."""
    end = outcome.end
    if end.kind is Kind.RESULT:
        return Wire(("completed",), None, 200, outcome.text)
    if end.kind is Kind.FAILED:
        return Wire(("failed",), end.code, 200, "")
    return Wire((), end.code, end.status, "")
