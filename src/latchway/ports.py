"""The five ports of the driver, and the clock. Everything outside the heart stands behind one.

No exception crosses a port (law 10). Callbacks come on the event loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from latchway.settings import Price, Route
from latchway.turn.commands import Close, Deliver, Fail, PassAnswer, SendHead
from latchway.turn.events import Place, UpstreamEvent
from latchway.values import Value
from latchway.wire.frame import Answer

if TYPE_CHECKING:
    from latchway.wire.request import Request


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Monotonic time in seconds, and one-shot timers. `asyncio`'s loop is one, given `time`."""

    def time(self) -> float: ...
    def call_at(self, when: float, callback: Callable[[], object], /) -> Timer: ...


class Client(Protocol):
    """Who sent the turn. Calls are ignored once the client is gone.

    It tells the driver `client_gone()`, `pause()` and `resume()`.
    """

    def send_head(self, command: SendHead) -> None: ...
    def comment(self) -> None: ...
    def deliver(self, command: Deliver) -> None: ...
    def pass_answer(self, command: PassAnswer) -> None: ...
    def fail(self, command: Fail) -> None: ...

    def upstream_headers(self, headers: tuple[tuple[str, str], ...]) -> None:
        """Headers of the current attempt's answer that may go with the client's own."""

    def end(self) -> None:
        """The turn is over: end the body. Called exactly once, also when the client is gone."""


class Call(Protocol):
    """One attempt in flight."""

    def drop(self) -> None:
        """Close the connection now, unless its body has already ended cleanly. No events follow."""

    def release(self) -> None:
        """The result has come; keep the connection if its body ends cleanly soon. No events
        follow."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...


class Question(Protocol):
    """A plain question in flight."""

    def give_up(self) -> None:
        """Close its connection, if it is not answered; nothing is told any more."""


class Upstreams(Protocol):
    """The providers, as they are configured. One per process."""

    def open(
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> Call:
        """Start an attempt. From within this call no more is told than Connected and Sent. Each
        attempt ends with exactly one of a terminal frame, Answered, Broke, Oversized, or drop()."""

    def ask(
        self,
        route: Route,
        method: str,
        path: str,
        body: bytes,
        told: Callable[[Answer | str], None],
    ) -> Question:
        """Ask `route` about a thing that it keeps. `path`: below its base_url, as a client said
        it. Told later, once: the whole answer, or in words why there is none."""

    def retell(self, route: Route, path: str, tell: Callable[[UpstreamEvent], None]) -> Call:
        """Ask `route` for the events of a response that it keeps; as `open`, with a GET."""


class Key(Value, frozen=True):
    """A client key that is valid at this moment."""

    name: str
    owner: str


class Choice(Value, frozen=True):
    """A route for the first attempt, or why there is none."""

    place: Place | None
    code: str | None = None
    """A code of wire/errors.py if place is None."""
    param: str | None = None
    message: str | None = None
    """What the code's own message does not say."""


class Routes(Protocol):
    """Which route is next (R1.7, R3, R10). One per process."""

    def first(self, request: Request, owner: str) -> Choice: ...
    def route_for(self, request: Request, owner: str) -> Route | Choice:
        """Where a turn with this request would be called first; a Choice: why it would not."""

    def replay(self, request: Request, failed: str) -> Place | None: ...
    def replay_room(self) -> bool: ...
    def turn_began(self) -> None: ...
    def replay_began(self) -> None: ...
    def turn_ended(self, replayed: bool) -> None: ...
    def attempt_ended(self, route: str, rule: str | None, now: float) -> None:
        """`rule`: the row of the failure itself (R2.1, R2.2, R2.6 count), None for a result."""

    def routes_state(self, now: float) -> list[dict[str, Any]]:
        """`/admin/routes`: route, model, state, failures, set_aside_until."""


class Opening(Value, frozen=True):
    """A turn as the ledger first sees it. `amount`: nano-USD to reserve (0: price free)."""

    request_id: str
    key: str
    owner: str
    model: str
    price: Price
    amount: int
    route: str
    """Attempt 1's route: its row is durable before the call."""
    started_at_ms: int
    """Unix time in milliseconds."""


class Closing(Value, frozen=True):
    """How a turn's money ends. `charge` is at most what was reserved."""

    request_id: str
    charge: int
    loss: int
    """nano-USD that the operator bears: failed attempts, broken output, usage above the
    reservation."""
    loss_reason: str | None
    basis: str
    """upstream | estimated | none"""
    usage: dict[str, int] | None
    billed_attempt: int | None
    response_id: str | None
    route: str | None
    made: tuple[bytes, ...] = ()
    """Marks of what `route` made for the turn's owner (wire/marks.py), remembered with it."""
    repeated: bool = False
    """What the request said may be among them, as in a compaction's answer."""
    undoes: bool = False
    """A charge was asked for before, and given up. If it became durable all the same, it is given
    back with this."""


class Granted(Value, frozen=True):
    pass


class Refused(Value, frozen=True):
    needed: int
    available: int


class Unavailable(Value, frozen=True):
    """Nothing is durable of what was asked."""

    reason: str


Written = Callable[[Granted | Unavailable], None]
"""Told whether it is durable."""


class Ledger(Protocol):
    """Money. Answers come by callback, on the loop's thread, after the commit that holds them."""

    def reserve(
        self, opening: Opening, done: Callable[[Granted | Refused | Unavailable], None]
    ) -> None: ...

    def record_replay(self, request_id: str, route: str, done: Written) -> None: ...

    def close(self, closing: Closing, done: Written) -> None:
        """Idempotent and final: the first outcome stands. A closing that could not be made durable
        is refunded by the ledger itself as soon as it can be (R6: every reservation ends); a charge
        that became so after it was given up is given back, at the latest with what `undoes` it."""

    def remember(self, owner: str, route: str, marks: Sequence[bytes], done: Written) -> None:
        """`route` made these for `owner`, outside of a turn or ahead of its end (wire/marks.py)."""

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        """The route that made the last of this owner's things that is known; None: none is, or
        they are another owner's.

        Raises ledger.database.LedgerFault if the ledger cannot be read.
        """

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        """Is one of these things known to be another owner's, and not this one's?

        Raises as `maker`.
        """


class Log(Protocol):
    def record(self, record: dict[str, Any]) -> None:
        """What `requests show --json` prints (docs/operating.md). Written behind the turn."""


__all__ = [
    "Call",
    "Choice",
    "Client",
    "Clock",
    "Close",
    "Closing",
    "Granted",
    "Key",
    "Ledger",
    "Log",
    "Opening",
    "Refused",
    "Routes",
    "Sequence",
    "Timer",
    "Unavailable",
    "UpstreamEvent",
    "Upstreams",
    "Written",
]
