"""One turn as the world sees it: what was asked, which calls were made, what the client was handed.

Every event is tagged with its call and its number, so what reaches a client can be told apart to
the byte: whose it is, in which order it comes, and whether the ledger knew of it before.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latchway.turn.events import Place
from sim import checks, events, oracle
from sim.events import Event
from sim.faults import script_of
from sim.universe import Violation
from sim.upstream import Call

if TYPE_CHECKING:
    from sim.clients import Client
    from sim.fates import Fate
    from sim.world import World

TAG = re.compile(rb"c(\d+)\.(\d+);")


@dataclass(frozen=True)
class Asked:
    """What a request says that the rule looks at."""

    transport: str
    """sse | json | websocket"""
    store: bool | None = None
    continues: str | None = None
    """The id that it continues."""
    bound: bool = False
    encrypted: bool = False
    pinned: str | None = None
    acts: bool = False
    padding: int = 0
    """Bytes, to make the request long."""
    key: str = "alice"
    model: str = "m"


class Case:
    """See the module. `told`: the name of the last event that its turn was told."""

    def __init__(self, world: World, number: int, asked: Asked) -> None:
        self.world, self.number, self.asked = world, number, asked
        self.began = world.universe.now
        self.calls: list[Call] = []
        self.request_id: str | None = None
        self.prompt_bytes = 0
        self.driver: Any = None
        self.told = ""
        self.gone = self.ledger_failed = self.crashed = self.over = False
        self.gone_at = 0.0
        self.stopped: str | None = None
        self.record: dict[str, Any] | None = None
        self.serving: Call | None = None
        """Whose events the client gets."""
        self.handed: list[Event] = []
        self.next = 0
        self.handed_lifecycle = self.handed_output = self.handed_error = False
        self.ends: list[str] = []
        """Each way in which the client was told the end."""
        self.status: int | None = None
        self.code: str | None = None
        """Of a failure in the gateway's own words."""
        self.answered = False
        self.began_turn = 0.0
        self.continued: tuple[str, str] | None = None
        """The response that it continues, and the route that made it."""
        self.client: Client | None = None
        self.fate: Fate | None = None
        self.before = ""
        """The turn's state before what it was told last."""

    @property
    def streamed(self) -> bool:
        return self.asked.transport != "json"

    @property
    def acts(self) -> bool:
        return self.asked.acts and not self.world.settings.turn.replay_acting_tools

    @property
    def unreachable(self) -> bool:
        """The client has left and its connection has been found broken; the turn hears of it in
        the loop's next round, and what it hands over until then goes nowhere."""
        return self.client is not None and self.client.left and self.client.wire.over

    # ---- calls

    def open(self, attempt: int, place: Place) -> Call:
        """The gateway makes a call."""
        world = self.world
        self.check_may_open(attempt, place.route)
        route = world.routes[place.route]
        script = script_of(
            world.universe.random, len(world.calls), streamed=self.streamed,
            hold=route.hold_seconds, event_bytes=world.settings.limits.event_bytes,
            calm=attempt == 2 and world.universe.random.random() < 0.4,
            pressed=self._pressed(attempt),
        )  # fmt: skip
        call = Call(
            len(world.calls), self, attempt, place.route, route.upstream_model, script,
            world.universe.now,
        )  # fmt: skip
        call.quiet_since = world.universe.now
        self.calls.append(call)
        world.calls.append(call)
        world.universe.note("turn %d opens call %s", self.number, call)
        return call

    def _pressed(self, attempt: int) -> bool:
        """Is its client slow? A replay meets what such a client's call meets at times, for there
        are too few of them."""
        if self.client is not None and self.client.pressed:
            return True
        return attempt == 2 and self.world.universe.random.random() < 0.02

    def check_may_open(self, attempt: int, route: str) -> None:
        """I-R1, I-R2, I-R6, R3: may this call be made now?"""
        self.check(attempt == len(self.calls) + 1 <= 2, "I-R1: a third call")
        self.check(not self.over, "a call of a turn that is over")
        self.check(not self.gone, "I-R2: a call for nobody")
        self.check(self.world.is_reserved(self), "R6: a call without a reservation")
        if attempt == 1:
            self.check_home(route)
            return
        first = self.calls[0]
        self.check(first.route != route, "I-R1: twice on one route")
        self.check(first.expected is not None and first.expected.verdict == "replay",
                   f"I-R2: replayed, the rule says {first.expected}")  # fmt: skip
        self.check(not self.handed and not self.ends, "I-R2: replayed after a delivery")
        self.check(not oracle.observed(first), "I-R2: replayed although work was seen")
        self.check(route in oracle.targets(self, first.route), "R1.7: replayed where it may not be")
        wire = first.wire
        self.check(wire is None or not wire.began or wire.over or first.finished,
                   "I-R6: two attempts in flight")  # fmt: skip

    def check_home(self, route: str) -> None:
        """R3: what ties the request to a place was heeded."""
        pinned, continued = self.asked.pinned, self.continued
        self.check(pinned in (None, route), f"R3: pinned to {pinned}, called on {route}")
        if self.asked.continues is not None:
            known = continued is not None and continued[1] == route
            self.check(known, f"R3: continues {continued}, called on {route}")

    def leave(self, call: Call, how: str) -> None:
        """The turn has left a call: how should it have been judged?"""
        call.left, call.left_at = how, self.world.universe.now
        call.ended_by, call.ended_in = self.told, self.before
        unread = len(call.wire.unread) if call.unread and call.wire is not None else 0
        call.arrived_by_then = call.arrived - unread
        if how == "dropped":
            call.expected = oracle.ended(self, call)
            checks.left(self, call)
        self.world.universe.note("turn %d: %s %s, %s", self.number, how, call, call.expected)

    # ---- what the client is handed

    def hand(self, text: bytes, *, exact: str) -> Event | None:
        """An event, or None if the words are the gateway's own. `exact`: block | data."""
        tag = TAG.search(text)
        if tag is None:
            return None
        call = self.world.calls[int(tag[1])]
        self.check(call.case is self, f"I-R4: got an event of turn {call.case.number}")
        self.check(call is self.calls[-1], "I-R4: a late event of attempt 1")
        self.check(self.serving in (None, call), "I-R4: events of two attempts")
        self.serving = call
        event = self._event(call, int(tag[2]), text, exact)
        self._count(event, call)
        return event

    def _event(self, call: Call, number: int, text: bytes, exact: str) -> Event:
        """It comes in its place, arrived and unchanged."""
        script = call.script
        if script.answer is not None:
            event = script.answer.event
            assert event is not None
            self.check(call.arrived >= script.answer_at, "D1: handed before it arrived")
            self.check(event.data in text, "D1: not the bytes that the upstream sent")
            return event
        number = script.places[number]
        skipped = [event.kind for _, event in script.marks[self.next : number]]
        allowed = self.asked.transport == "websocket" and set(skipped) <= {events.ERROR}
        self.check(not skipped or allowed, f"D1: left out {skipped}")
        self.check(number >= self.next, "D1: an event twice, or out of order")
        at, event = script.marks[number]
        self.check(at <= call.arrived, "D1: handed before it arrived")
        self.next = number + 1
        same = text == (event.block if exact == "block" else event.data)
        wrapped = exact == "data" and event.kind == events.ERROR
        self.check(same or wrapped, f"D1: not the bytes that the upstream sent: {text!r}")
        return event

    def _count(self, event: Event, call: Call) -> None:
        pair = self.ends == [events.ERROR] and self.asked.transport == "sse"
        if self.ends:
            second = pair and event.kind in (events.FAILED, events.NEUTRAL)
            self.check(second, f"D2: {event.kind} behind the end {self.ends}")
        self.handed.append(event)
        self.handed_lifecycle |= event.kind == events.LIFECYCLE
        if event.kind in events.TERMINAL:
            self.ends.append(event.kind)
            self.handed_error |= event.kind == events.ERROR
        if event.kind in (events.OUTPUT, *events.RESULTS):
            self.handed_output = True
        if event.kind in events.RESULTS:
            self.check(self.world.is_settled(self, call), "I-B5: a result before it is durable")
            response_id = f"resp_{call.id}"
            self.world.made[self.asked.key].append((response_id, call.route))

    def told_by_gateway(self, how: str) -> None:
        """A failure in the gateway's own words, or an upstream's answer passed on."""
        second = self.ends == ["own error"] and how == "own failed"
        self.check(not self.ends or second, f"D2: {how} behind the end {self.ends}")
        self.ends.append(how)

    def check_headers(self, status: int, headers: dict[str, str]) -> None:
        """An answer's head says whose it is, and how often it was called."""
        said = headers.get("x-latchway-replay")
        known = self.request_id in (None, headers["x-request-id"])
        self.check(known, "R7: another turn's request id")
        if said is not None:
            replayed = (said == "replayed") == (len(self.calls) == 2)
            self.check(replayed, f"x-latchway-replay: {said}, calls: {len(self.calls)}")

    def check_refusal(self, status: int, body: bytes) -> None:
        """A JSON body that is no result: an upstream's own, or one of the gateway's shape."""
        answer = self.calls[-1].script.answer if self.calls else None
        if answer is not None and answer.kind == "refusal" and body in (answer.body, b""):
            self.check(status == answer.status, "R5: not the status that the upstream sent")
            return
        error = json.loads(body)["error"]
        self.code = error["code"]
        shape = {"message", "type", "param", "code", "retryable", "retry_after"} <= set(error)
        self.check(status >= 400 and shape, f"no error: {status} {body!r}")

    def check(self, holds: bool, what: str) -> None:
        if not holds:
            raise Violation(f"turn {self.number} ({self.request_id}): {what}")
