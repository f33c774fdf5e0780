"""What a turn asks for. Frozen values; the driver carries them out in order, through the ports."""

from __future__ import annotations

from latchway.turn.events import Binding, Place
from latchway.values import Value, Word
from latchway.wire.frame import Answer, Frame, Usage


class Delivered(Word):
    """The most that the client got besides the failure. Grows only."""

    NOTHING = 0
    LIFECYCLE = 1
    OUTPUT = 2


class Basis(Word):
    """What a turn is charged by when it ends (R6). `turn/billing.py` chooses."""

    REFUND = "refund"
    """Nothing was delivered: all of the reservation returns."""
    USAGE = "usage"
    ESTIMATE = "estimate"
    FORGIVEN = "forgiven"
    """Output was delivered and nobody pays: the operator's loss."""


class SelectRoute(Value, frozen=True):
    """`failed`: the route that a replay must not go to; None for the first attempt."""

    failed: str | None


class Reserve(Value, frozen=True):
    place: Place


class RecordReplay(Value, frozen=True):
    place: Place


class Open(Value, frozen=True):
    attempt: int
    place: Place


class Drop(Value, frozen=True):
    """Close the attempt's connection now; no more of its events are wanted."""

    attempt: int


class Release(Value, frozen=True):
    """The attempt has given its result; its connection may be kept if its body ends cleanly."""

    attempt: int


class SendHead(Value, frozen=True):
    """Early headers: status 200 with nothing delivered (R5)."""

    replay: str | None
    """Value of `x-latchway-replay`, or None: the header is left out."""


class Comment(Value, frozen=True):
    """An SSE comment, to keep proxies from closing."""


class Deliver(Value, frozen=True):
    """Hand these frames to the client, in order, in one write; the first opens the status line."""

    frames: tuple[Frame, ...]
    replay: str | None
    retryable: bool = False
    """For an upstream's own `error` event that a WebSocket must wrap: what rule (b) says."""


class PassAnswer(Value, frozen=True):
    """Pass on an upstream's whole HTTP error answer; the status line is still open."""

    answer: Answer
    replay: str | None
    retryable: bool


class Fail(Value, frozen=True):
    """A failure in the gateway's own words: a status while the status line is open, else events.

    `answer`: the upstream's HTTP answer whose error is carried over, if that is the failure.
    """

    code: str
    replay: str | None
    retryable: bool
    retry_after: float | None = None
    needed: int | None = None
    """insufficient_balance: nano-USD."""
    answer: Answer | None = None
    param: str | None = None
    message: str | None = None
    """None: the message of the code's row."""
    response_id: str | None = None
    """The id that the client knows, for a `response.failed` of its own; None: it knows none."""
    created_at: float | None = None
    model: str | None = None


class Close(Value, frozen=True):
    """Settle or refund, durably; answered by Closed or LedgerFailed."""

    basis: Basis
    attempt: int | None
    """The billed attempt; None for a refund."""
    usage: Usage | None
    output_bytes: int
    """Delta text delivered, for an estimate or a loss."""
    response_id: str | None
    """Delivered response id."""
    route: str | None
    unbilled: tuple[AttemptRecord, ...] = ()
    """Attempts that nobody is charged for; what they cost upstream is the operator's loss."""
    made: tuple[bytes, ...] = ()
    """Marks of what the route made and a client may send back (wire/marks.py)."""


class AttemptRecord(Value, frozen=True):
    """One line of the log. Times are seconds on the turn's clock."""

    number: int
    route: str
    outcome: str
    failure: str | None
    own_rule: str | None
    """The failure's own row of R2, which counts for the route's health (R10)."""
    rule: str | None
    """The row that the verdict stands for."""
    code: str | None
    verdict: str | None
    http_status: int | None
    upstream_request_id: str | None
    response_id: str | None
    began: float
    first_event: float | None
    ended: float
    usage: Usage | None
    usage_absurd: bool
    reason: str | None
    """Why a read failed, in words; for people, not for programs."""
    output_bytes: int
    """Delta text that came, for the cost of an attempt without usage."""


class Finish(Value, frozen=True):
    """The turn is over; this is what is logged of it (R7)."""

    outcome: str
    code: str | None
    binding: Binding | None
    delivered: Delivered
    replayed: bool
    response_id: str | None
    attempts: tuple[AttemptRecord, ...]
    began: float
    first_output: float | None
    ended: float
    phase: str | None
    """of a failed turn: before_first_event | before_output | after_output"""
    held_seconds: float
    released_by_timer: bool


Command = (
    SelectRoute
    | Reserve
    | RecordReplay
    | Open
    | Drop
    | Release
    | SendHead
    | Comment
    | Deliver
    | PassAnswer
    | Fail
    | Close
    | Finish
)
