"""What a turn is told. Each is a frozen value; an upstream's names its attempt (law 4)."""

from __future__ import annotations

from latchway.values import Value, Word
from latchway.wire.frame import Answer, Frame


class Binding(Word):
    """What ties a request to one place (R3); STATELESS: nothing does."""

    STATELESS = "stateless"
    STORED = "stored"
    CONTINUATION = "continuation"
    ORIGIN_BOUND = "origin_bound"


class Place(Value, frozen=True):
    """A chosen route, as far as the turn must know it. Durations in seconds."""

    route: str
    binding: Binding
    """The request's binding, were it served on this route (its `store_default` counts)."""
    another: bool
    """Is there another route that a replay could go to (R1.7)?"""
    kindred: bool = False
    """Bound by encrypted items alone, and `another` is of the same origin (R3)."""
    hold_seconds: float = 10.0
    connect_timeout_seconds: float = 10.0
    first_event_timeout_seconds: float = 60.0
    idle_timeout_seconds: float = 300.0


# ---- from the driver


class Begin(Value, frozen=True):
    pass


class RouteChosen(Value, frozen=True):
    place: Place


class NoRoute(Value, frozen=True):
    """No route may be called; `code` is a row of `wire/errors.py`."""

    code: str = "no_route_available"
    param: str | None = None
    message: str | None = None


class RouteFault(Value, frozen=True):
    """The choice of a route failed: an internal fault (R2.13)."""


class Tick(Value, frozen=True):
    """A moment that `Turn.due` named has come."""


class ClientGone(Value, frozen=True):
    pass


class Stop(Value, frozen=True):
    """The gateway ends the turn itself (R2.17): a code of `wire/errors.py`."""

    code: str


class Paused(Value, frozen=True):
    """The client is slow; its upstream is no longer read."""


class Resumed(Value, frozen=True):
    pass


# ---- from the ledger


class Reserved(Value, frozen=True):
    """The reservation is durable."""


class Denied(Value, frozen=True):
    """The balance is too small. `needed`: nano-USD."""

    needed: int
    available: int


class LedgerFailed(Value, frozen=True):
    """What was asked of the ledger is not durable. `code`: what the client is told."""

    code: str = "ledger_unavailable"


class ReplayRecorded(Value, frozen=True):
    """That there will be a second attempt is durable."""


class Closed(Value, frozen=True):
    """The settlement or refund is durable."""


# ---- from an upstream


class Connected(Value, frozen=True):
    """The request can be written: the connect clock stops."""

    attempt: int


class Sent(Value, frozen=True):
    """The request's last byte was written: the first-event clock starts."""

    attempt: int


class Headed(Value, frozen=True):
    """The upstream's status line and headers came. `headers`: those that may reach the client."""

    attempt: int
    status: int
    request_id: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Arrived(Value, frozen=True):
    """All whole events of one read, in order."""

    attempt: int
    frames: tuple[Frame, ...]


class Commented(Value, frozen=True):
    """A comment came: it feeds the idle clock and nothing else."""

    attempt: int


class Answered(Value, frozen=True):
    """A whole HTTP answer that is no stream and no result: an error status, a redirect, a 200
    with a JSON error."""

    attempt: int
    answer: Answer


class Broke(Value, frozen=True):
    """The upstream's stream ended without a terminal event, or never began (R2.2, R2.12, R2.16).

    `begun`: the status line of a turn that is not streamed had come (R2, "Not streamed").
    """

    attempt: int
    reason: str
    begun: bool = False


class Oversized(Value, frozen=True):
    """An event over `limits.event_bytes` (R2.7)."""

    attempt: int


UpstreamEvent = Connected | Sent | Headed | Arrived | Commented | Answered | Broke | Oversized

Event = (
    Begin | RouteChosen | NoRoute | RouteFault | Tick | ClientGone | Stop | Paused | Resumed
    | Reserved | Denied | LedgerFailed | ReplayRecorded | Closed | UpstreamEvent
)  # fmt: skip
