"""The real ports, with an eye on each: whatever passes one becomes a line of the recording.

A script's orders reach them here, too: a route table that fails, a ledger that refuses or makes
wait.
"""

from __future__ import annotations

import json
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from harness.ledger import Done, InlineLedger
from harness.names import itself
from latchway.ledger.prices import format_usd
from latchway.ledger.verify import verify
from latchway.log.metrics import Metrics
from latchway.log.record import Bill
from latchway.ports import Call, Choice, Closing, Opening
from latchway.routes.table import RouteTable
from latchway.settings import Settings
from latchway.turn.commands import Finish
from latchway.turn.events import Place, UpstreamEvent
from latchway.upstreams.responses import ResponsesUpstreams
from latchway.wire.marks import mark
from latchway.wire.request import Request
from lock import record
from lock.record import line
from lock.script import NOT_OURS

BOOKED = "SELECT reserved, charged, loss, record FROM turn JOIN log USING (request_id)"

Say = Callable[[str], None]


CONTINUED = frozenset(map(mark, ("resp_0", "conv_0")))
"""What a scripted continuation continues (lock/stage.py)."""


class Known:
    """Who made what a script's request continues or holds, as its head says (lock/script.py)."""

    def __init__(self, made: str) -> None:
        self._made = made

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        if not marks or self._made in NOT_OURS:
            return None
        return self._made or ("a" if CONTINUED.intersection(marks) else None)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return bool(marks) and self._made == "another"


class OrderedFault(Exception):
    """The script wants a fault of the gateway here."""


class SeenRoutes(RouteTable):
    """`fault`: the next choice fails."""

    def __init__(
        self, say: Say, settings: Settings, now: Callable[[], float], made: str = ""
    ) -> None:
        super().__init__(settings, Known(made), now)
        self._say = say
        self.fault = False

    def first(self, request: Request, owner: str) -> Choice:
        self._begin("select")
        choice = super().first(request, owner)
        self._say(line("routes", f"select{'' if choice.place else ': none'}"))
        return choice

    def replay(self, request: Request, failed: str) -> Place | None:
        self._begin(f"select, not {failed}")
        place = super().replay(request, failed)
        self._say(line("routes", f"select, not {failed}{'' if place else ': none'}"))
        return place

    def _begin(self, what: str) -> None:
        if self.fault:
            self._say(line("routes", f"{what}: a fault"))
            raise OrderedFault


class SeenCall(Call):
    """One attempt, its end seen. `tell`: what another transport than HTTP would tell of it."""

    def __init__(
        self, say: Say, attempt: int, inner: Call, tell: Callable[[UpstreamEvent], None]
    ) -> None:
        self._say, self._attempt, self._inner, self.tell = say, attempt, inner, tell

    def drop(self) -> None:
        self._say(line("upstream", f"drop attempt {self._attempt}"))
        self._inner.drop()

    def release(self) -> None:
        self._say(line("upstream", f"release attempt {self._attempt}"))
        self._inner.release()

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()


class SeenUpstreams(ResponsesUpstreams):
    """`calls`: by the number of the attempt, of the newest turn."""

    def __init__(self, say: Say, settings: Settings, tls: ssl.SSLContext) -> None:
        super().__init__(settings, tls=tls, find=itself)
        self._say = say
        self.calls: dict[int, SeenCall] = {}

    def open(  # type: ignore[override]
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> SeenCall:
        self._say(line("upstream", f"open attempt {attempt} on {place.route}"))
        inner = super().open(attempt, place, request, tell)
        self.calls[attempt] = SeenCall(self._say, attempt, inner, tell)
        return self.calls[attempt]


class SeenLedger:
    """The real book. What a script orders of a step holds for that step's next time only."""

    def __init__(self, say: Say, inner: InlineLedger) -> None:
        self._say, self._inner = say, inner
        self.orders: dict[str, deque[str]] = {
            "reserve": deque(),
            "replay": deque(),
            "close": deque(),
        }
        self._faulted: Closing | None = None

    def answer(self) -> None:
        """The ledger makes nobody wait any longer."""
        self._inner.answer()

    def reserve(self, opening: Opening, done: Done) -> None:
        how = self._next("reserve")
        self._say(f"{record.reserving(opening.amount)}{SAID[how]}")
        self._carry_out("reserve", how, lambda: self._inner.reserve(opening, done))

    def record_replay(self, request_id: str, route: str, done: Done) -> None:
        how = self._next("replay")
        self._say(line("ledger", f"record the replay on {route}{SAID[how]}"))
        self._carry_out("replay", how, lambda: self._inner.record_replay(request_id, route, done))

    def close(self, closing: Closing, done: Done) -> None:
        """What the driver owes after a fault is the same closing again, and told once."""
        if closing == self._faulted:
            self._inner.close(closing, done)
            return
        how = self._next("close")
        self._say(f"{record.closing(closing)}{SAID[how]}")
        if how == "faults":
            self._faulted = closing
            raise OrderedFault
        self._carry_out("close", how, lambda: self._inner.close(closing, done))

    def remember(self, owner: str, route: str, marks: Sequence[bytes], done: Done) -> None:
        self._inner.remember(owner, route, marks, done)

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        return self._inner.maker(owner, marks)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return self._inner.is_anothers(owner, marks)

    def check(self) -> None:
        """The book is in order, and the log says what stands in it. AssertionError if not."""
        assert verify(self._inner.connection) == []
        for *amounts, logged in self._inner.connection.execute(BOOKED):
            booked = [format_usd(amount) for amount in amounts]
            said = json.loads(logged)["billing"]
            assert booked == [said["reserved"], said["charged"], said["operator_loss"]]

    def _next(self, step: str) -> str:
        waiting = self.orders[step]
        return waiting.popleft() if waiting else "works"

    def _carry_out(self, step: str, how: str, ask: Callable[[], None]) -> None:
        """A denial is the book's own: the turn's key is poor."""
        self._inner.holds = how == "waits"
        self._inner.fails = {step} if how == "fails" else set()
        ask()


SAID = {
    "works": "",
    "waits": "",
    "denies": ": too little",
    "fails": ": not durable",
    "faults": ": not durable",
}
"""How an answer is recorded, where it is not what was asked for."""


class SeenMetrics(Metrics):
    """Keeps what the last turn's end was told as, for the log's line."""

    finish: Finish

    def turn_ended(self, finish: Finish, bill: Bill, *, model: str, transport: str) -> None:
        self.finish = finish
        super().turn_ended(finish, bill, model=model, transport=transport)


class SeenLog:
    """`ports.Log`; `records`: oldest first."""

    def __init__(self, say: Say, metrics: SeenMetrics, inner: InlineLedger) -> None:
        self._say, self._metrics, self._inner = say, metrics, inner

    def record(self, told: dict[str, Any]) -> None:
        for each in record.logged(told, self._metrics.finish):
            self._say(each)
        self._inner.record(told)
