"""The turn alone as a stage: its ports answer at once, as the script says; time is a number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from latchway.books import WHY_FORGIVEN
from latchway.ledger import bill
from latchway.log import record as logs
from latchway.ports import Closing
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.events import Binding, Event, Place
from latchway.turn.machine import Terms, Turn
from latchway.values import replace
from lock import record, said
from lock.money import RESERVED, TERMS
from lock.record import Recorder, line
from lock.script import CLOCKS, NOT_OURS, Scenario

MOST_TICKS_AT_ONCE = 10
"""No moment has more clocks than that: beyond, one does not move."""


class Bare:
    """The turn alone. Seconds on its clock count from `begin`."""

    def __init__(self, scenario: Scenario, transport: str) -> None:
        self.lines: list[str] = []
        self.head = scenario.head
        self.now = 0.0
        self.turn = Turn(terms(scenario, transport), lambda: self.head["room"] == "yes")
        self.recorder = Recorder(transport, self.head["streamed"] == "yes")
        self.events: deque[Event] = deque()
        self.ledger: dict[str, deque[str]] = {
            "reserve": deque(),
            "replay": deque(),
            "close": deque(),
        }
        self.asked: str | None = None
        """What a ledger that makes one wait was asked."""
        self.route_choice = "works"
        self.upstream = "works"
        self.headed: set[int] = set()
        self._charge: Closing | None = None

    # ---- what happens

    def upstream_tells(self, attempt: int, words: str) -> None:
        event = said.event(attempt, words)
        status = _status(event)
        if status is not None and attempt not in self.headed:
            self.headed.add(attempt)
            self.tell(on.Headed(attempt, status))
        self.tell(event)

    def passes(self, seconds: float) -> None:
        until, ticks, said_at = self.now + seconds, 0, -1.0
        while (due := self.turn.due()) is not None and due <= until:
            ticks = ticks + 1 if due <= self.now else 0
            assert ticks < MOST_TICKS_AT_ONCE, f"a clock that is always due at {due:g}s"
            self.now = max(self.now, due)
            seen = len(self.lines)
            self.tell(on.Tick())
            if len(self.lines) > seen and said_at != self.now:
                self.lines.insert(seen, line("clock", f"{self.now:g}s"))
                said_at = self.now
        self.now = until

    def does(self, port: str, what: str) -> None:
        DOES[port](self, what)

    def tell(self, event: Event) -> None:
        self.events.append(event)
        while self.events:
            event = self.events.popleft()
            if isinstance(event, on.Sent):
                self._ask(event.attempt)
            for command in self.turn.handle(event, self.now):
                self._carry_out(command)

    # ---- what the turn asks for

    def _carry_out(self, command: do.Command) -> None:
        self.lines += self._told(command)
        match command:
            case do.SelectRoute():
                self._choose(command.failed)
            case do.Reserve():
                self._ask_ledger("reserve")
            case do.RecordReplay():
                self._ask_ledger("replay")
            case do.Close():
                self._ask_ledger("close")
            case do.Open():
                self._reach(command.attempt)

    def _told(self, command: do.Command) -> list[str]:
        match command:
            case do.Reserve():
                return [record.reserving(RESERVED)]
            case do.Close():
                return [record.closing(self._closing(command))]
            case do.Finish():
                return record.logged(
                    logs.record(command, ASKED, logs.Bill(), served_by=""), command
                )
        return self.recorder.lines(command)

    def _closing(self, command: do.Close) -> Closing:
        """As `books.Books.closing`."""
        closing = bill.close(command, TERMS, self._blame())[0]
        if self._charge is not None:
            return bill.undone(self._charge, closing, RESERVED)[0]
        self._charge = closing if closing.usage is not None else None
        return closing

    def _blame(self) -> str:
        """Whose loss it is if output was delivered that nobody pays for."""
        failure = self.turn.records[-1].failure if self.turn.records else None
        return WHY_FORGIVEN.get(failure or "", "upstream_broke")

    def _choose(self, failed: str | None) -> None:
        if self.route_choice == "fault":
            self._answer(on.RouteFault())
            return
        refusal = refused(self.head)
        chosen = None if refusal is not None else place(self.head, failed)
        self._answer(refusal or (on.NoRoute() if chosen is None else on.RouteChosen(chosen)))

    def _ask_ledger(self, what: str) -> None:
        waiting = self.ledger[what]
        how = waiting.popleft() if waiting else "works"
        if how == "waits":
            self.asked = what
        else:
            self._answer(LEDGER[how] if how != "works" else GRANTED[what])

    def _reach(self, attempt: int) -> None:
        if self.upstream != "does not connect":
            self.events.append(on.Connected(attempt))
            if self.upstream != "takes no request":
                self.events.append(on.Sent(attempt))

    def _ask(self, attempt: int) -> None:
        assert self.turn.place is not None
        dropped = _mark(_routes(self.head)[self.turn.place.route], "drops")
        if dropped:
            self.lines.append(record.lacking(attempt, dropped))

    def _answer(self, event: Event) -> None:
        if type(event) in FAULTS:
            self.lines[-1] += f": {FAULTS[type(event)]}"
        self.events.append(event)

    # ---- what the ports do

    def client(self, what: str) -> None:
        self.tell(CLIENT[what])

    def routes(self, what: str) -> None:
        self.route_choice = what

    def reach(self, what: str) -> None:
        self.upstream = what

    def ledger_does(self, what: str) -> None:
        operation, _, how = what.partition(" ")
        if operation != "answers":
            self.ledger[operation].append(how)
            return
        assert self.asked is not None
        self.tell(GRANTED[self.asked])


ASKED = logs.Asked("", "alice", "alice", "m", "", True, 0.0)
"""Who asks for every turn."""

DOES: dict[str, Callable[[Bare, str], None]] = {
    "begin": lambda stage, _: stage.tell(on.Begin()),
    "stop": lambda stage, code: stage.tell(on.Stop(code)),
    "client": Bare.client,
    "routes": Bare.routes,
    "upstream": Bare.reach,
    "ledger": Bare.ledger_does,
}
"""What the ports can do, but for what an attempt tells."""

CLIENT: dict[str, Event] = {
    "gone": on.ClientGone(),
    "slow": on.Paused(),
    "reads on": on.Resumed(),
}
GRANTED: dict[str, Event] = {
    "reserve": on.Reserved(),
    "replay": on.ReplayRecorded(),
    "close": on.Closed(),
}
LEDGER: dict[str, Event] = {
    "denies": on.Denied(needed=2, available=1),
    "fails": on.LedgerFailed(),
    "faults": on.LedgerFailed("internal_error"),
}
FAULTS: dict[type[Event], str] = {
    on.RouteFault: "a fault",
    on.NoRoute: "none",
    on.Denied: "too little",
    on.LedgerFailed: "not durable",
}
"""How a port's answer is recorded, where it is not what was asked for."""


def terms(scenario: Scenario, transport: str) -> Terms:
    """What the turn must know, by the head and the transport."""
    head, http = scenario.head, transport == "http"
    settings = dict(each.split("=") for each in head["settings"].split())
    quiet = not http or head["streamed"] != "yes"
    return Terms(
        streamed=head["streamed"] == "yes",
        status_line=http,
        whole_pair=http,
        acting_tools=head["tools"] == "acting",
        keepalive_seconds=0.0 if quiet else float(settings.get("keepalive_seconds", 15)),
        pre_output_buffer_bytes=int(settings.get("pre_output_buffer_bytes", 8 << 20)),
        whole_answer_timeout_seconds=600.0,
        client_left_pays=settings.get("client_left", "estimate") == "estimate",
        upstream_broke_pays=settings.get("upstream_broke", "free") == "estimate",
        replay_fault_code="response_failed" if http else "websocket_response_failed",
    )


UNKNOWN = {
    "continuation": on.NoRoute("previous_response_not_found", "previous_response_id"),
    "continuation, conversation": on.NoRoute("conversation_not_found", "conversation"),
}
"""The refusal of what continues a thing that its owner has not."""


def refused(head: Mapping[str, str]) -> on.NoRoute | None:
    """Why no route may have it, whichever there are (R3)."""
    made, binding = head.get("made"), head["binding"]
    if made in NOT_OURS and binding in UNKNOWN:
        return UNKNOWN[binding]
    return on.NoRoute("invalid_request", "input") if made == "another" else None


def place(head: Mapping[str, str], failed: str | None) -> Place | None:
    """The route that is next, and what else the turn must know of it."""
    routes = _first(head) if failed is None else _targets(head, failed)
    if not routes:
        return None
    name, marks = min(routes.items(), key=lambda route: "aside" in route[1])
    binding, _, how = head["binding"].partition(", ")
    bound = Binding.STORED if "stores" in marks else Binding(binding)
    another = bool(_targets(head, name))
    made = Place(name, bound, another, kindred=how == "encrypted" and another)
    clocks: dict[str, Any] = {
        setting: float(seconds)
        for mark, setting in CLOCKS.items()
        if (seconds := _mark(marks, mark))
    }
    return replace(made, **clocks)


def _routes(head: Mapping[str, str]) -> dict[str, list[str]]:
    """Name to marks, of those that are enabled."""
    said = [route.split(":") for route in head["routes"].split()]
    return {name: marks for name, *marks in said if "disabled" not in marks}


def _first(head: Mapping[str, str]) -> dict[str, list[str]]:
    """Where the first attempt may go; what is tied to one place goes there, set aside or not."""
    routes, binding = _routes(head), head["binding"]
    maker = {name: marks for name, marks in routes.items() if name == head.get("made")}
    tied = maker or dict(list(routes.items())[:1])
    if binding == "origin_bound, encrypted" and maker:
        kin = {name: marks for name, marks in routes.items() if _akin(marks, *maker.values())}
        return maker | kin
    return routes if binding in ("stateless", "stored", "origin_bound, compaction") else tied


def _targets(head: Mapping[str, str], failed: str) -> dict[str, list[str]]:
    """Where a replay could go."""
    routes = _routes(head)
    anywhere = not head["binding"].endswith("encrypted")
    return {
        name: marks
        for name, marks in routes.items()
        if name != failed and "stores" not in marks and (anywhere or _akin(marks, routes[failed]))
    }


def _akin(marks: list[str], others: list[str]) -> bool:
    """Of one origin; routes that name none share none."""
    origin = _mark(marks, "origin")
    return origin != "" and origin == _mark(others, "origin")


def _mark(marks: list[str], name: str) -> str:
    """What a route's mark says; nothing, if it has none of that name."""
    said = dict(mark.partition("=")[::2] for mark in marks)
    return said.get(name, "")


def _status(event: on.UpstreamEvent) -> int | None:
    """The status line that must have come before."""
    match event:
        case on.Answered():
            return event.answer.status
        case on.Arrived() | on.Commented():
            return 200
    return None
