"""What a turn is told. Each is a frozen value; an upstream's names its attempt (law 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from latchway.wire.frame import Answer, Frame


class Binding(Enum):
    """What ties a request to one place (R3); STATELESS: nothing does."""

    STATELESS = "stateless"
    STORED = "stored"
    CONTINUATION = "continuation"
    ORIGIN_BOUND = "origin_bound"


@dataclass(frozen=True, slots=True)
class Place:
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


@dataclass(frozen=True, slots=True)
class Begin:
    pass


@dataclass(frozen=True, slots=True)
class RouteChosen:
    place: Place


@dataclass(frozen=True, slots=True)
class NoRoute:
    """No route may be called; `code` is a row of `wire/errors.py`."""

    code: str = "no_route_available"
    param: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RouteFault:
    """The choice of a route failed: an internal fault (R2.13)."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment that `Turn.due` named has come."""


@dataclass(frozen=True, slots=True)
class ClientGone:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """The gateway ends the turn itself (R2.17): a code of `wire/errors.py`."""

    code: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The client is slow; its upstream is no longer read."""


@dataclass(frozen=True, slots=True)
class Resumed:
    pass


# ---- from the ledger


@dataclass(frozen=True, slots=True)
class Reserved:
    """The reservation is durable."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The balance is too small. `needed`: nano-USD."""

    needed: int
    available: int


@dataclass(frozen=True, slots=True)
class LedgerFailed:
    """What was asked of the ledger is not durable. `code`: what the client is told."""

    code: str = "ledger_unavailable"


@dataclass(frozen=True, slots=True)
class ReplayRecorded:
    """That there will be a second attempt is durable."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The settlement or refund is durable."""


# ---- from an upstream


@dataclass(frozen=True, slots=True)
class Connected:
    """The request can be written: the connect clock stops."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Sent:
    """The request's last byte was written: the first-event clock starts."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Headed:
    """The upstream's status line and headers came. `headers`: those that may reach the client."""

    attempt: int
    status: int
    request_id: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrived:
    """All whole events of one read, in order."""

    attempt: int
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Commented:
    """A comment came: it feeds the idle clock and nothing else."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A whole HTTP answer that is no stream and no result: an error status, a redirect, a 200
    with a JSON error."""

    attempt: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Broke:
    """The upstream's stream ended without a terminal event, or never began (R2.2, R2.12, R2.16).

    `begun`: the status line of a turn that is not streamed had come (R2, "Not streamed").
    """

    attempt: int
    reason: str
    begun: bool = False


@dataclass(frozen=True, slots=True)
class Oversized:
    """An event over `limits.event_bytes` (R2.7)."""

    attempt: int


UpstreamEvent = Connected | Sent | Headed | Arrived | Commented | Answered | Broke | Oversized

Event = (
    Begin | RouteChosen | NoRoute | RouteFault | Tick | ClientGone | Stop | Paused | Resumed
    | Reserved | Denied | LedgerFailed | ReplayRecorded | Closed | UpstreamEvent
)  # fmt: skip
