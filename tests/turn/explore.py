"""Every turn that can be: breadth first over all events that the world may tell, until it closes.
At every moment the process may be killed.

Time goes by leaps: to the next moment that the turn has named. Two moments are the same if the
turn and what was seen of it are alike, and the same of its clocks is due first.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from latchway.turn import events as on
from latchway.turn.attempt import Attempt
from latchway.turn.events import Binding, Event, Place
from latchway.turn.machine import State, Terms, Turn
from latchway.wire.frame import Answer, Frame, Kind, Note, Usage
from turn.made import place
from turn.watch import Watch

Step = tuple[State, type[Event], State]


def _frame(attempt: int, kind: Kind, *, text_bytes: int = 0, **note: object) -> Frame:
    said = None if kind is Kind.OUTPUT else Note(**note)  # type: ignore[arg-type]
    return Frame(kind, b"%d" % attempt, b"x" * 40, text_bytes, said)


def _frames(attempt: int) -> Iterator[tuple[Frame, ...]]:
    """What one read may bring: each kind alone, and those pairs that are more than their sum."""
    created = _frame(attempt, Kind.LIFECYCLE, response_id=f"resp_{attempt}")
    ping, text = _frame(attempt, Kind.NEUTRAL), _frame(attempt, Kind.OUTPUT, text_bytes=4)
    error = _frame(attempt, Kind.ERROR, code="server_error")
    failed = _frame(attempt, Kind.FAILED, code="server_is_overloaded")
    metered = _frame(attempt, Kind.FAILED, metered=True, usage=Usage(1, 1))
    yield from ((created,), (ping,), (text,), (error,), (failed,), (metered,))
    yield (_frame(attempt, Kind.FAILED, code="invalid_prompt"),)
    yield (_frame(attempt, Kind.COMPLETED, metered=True, usage=Usage(1, 1)),)
    yield (_frame(attempt, Kind.INCOMPLETE),)
    yield from ((created, text), (text, failed), (failed, text), (text, error))
    yield from ((error, failed), (error, metered))


def upstream(attempt: int) -> Iterator[Event]:
    """All that an attempt in flight may tell."""
    yield from (on.Connected(attempt), on.Sent(attempt), on.Headed(attempt, 200))
    yield from (on.Arrived(attempt, frames) for frames in _frames(attempt))
    yield from (on.Answered(attempt, Answer(status)) for status in (200, 401, 429, 504))
    yield from (on.Commented(attempt), on.Oversized(attempt))
    yield from (on.Broke(attempt, "reset"), on.Broke(attempt, "reset", begun=True))


def late(attempt: int) -> Iterator[Event]:
    """One of each kind, from an attempt that the turn has left."""
    yield from {type(event): event for event in upstream(attempt)}.values()


LEDGER: dict[str | None, tuple[Event, ...]] = {
    None: (),
    "reserve": (on.Reserved(), on.Denied(2, 1), on.LedgerFailed()),
    "replay": (on.ReplayRecorded(), on.LedgerFailed()),
    "close": (on.Closed(), on.LedgerFailed(), on.LedgerFailed("internal_error")),
}
"""What the ledger may answer, by what it was asked."""


@dataclass(frozen=True)
class World:
    """What differs from one exploration to another."""

    terms: Terms
    binding: Binding = Binding.STATELESS
    room: bool = True
    idle_timeout_seconds: float = 300.0

    def place(self, route: str) -> Place:
        return place(
            route,
            binding=self.binding,
            hold_seconds=7.0,
            idle_timeout_seconds=self.idle_timeout_seconds,
        )


@dataclass
class Moment:
    """A turn, what was seen of it, and when."""

    turn: Turn
    watch: Watch = field(default_factory=Watch)
    now: float = 0.0

    def after(self, event: Event, now: float) -> Moment:
        """The moment after an event; this one stays as it is."""
        turn, watch = _clone(self.turn), self.watch.told(event)
        return Moment(turn, watch.seen(turn.handle(event, now)), now)

    def hears(self, event: Event) -> bool:
        """Is it no event of an attempt that was left?"""
        number = getattr(event, "attempt", None)
        return number is None or number == self.watch.opened

    def key(self) -> Hashable:
        turn, attempt = self.turn, self.turn.attempt
        if self.watch.finished:
            return (turn.state, self.watch.opened)
        held = attempt and _held(attempt)
        flying = attempt and self.watch.in_flight and (
            attempt.observed, attempt.usage is None, attempt.first_event is None,
            attempt.connected is None, attempt.paused,
        )  # fmt: skip
        kinds = tuple(dict.fromkeys(f.kind for f in turn.pair))
        return (
            self.watch, turn.state, held, flying, _first_due(turn), turn.stopped is None, kinds,
            turn.pair_told, turn.result and turn.result.kind, _shape(turn), turn.outcome,
            turn.status_line,
        )  # fmt: skip


def _held(attempt: Attempt) -> Hashable:
    return attempt.response_id is None, frozenset(f.kind for f in attempt.hold.frames)


def _first_due(turn: Turn) -> tuple[bool, ...]:
    """Which of its clocks a turn's next tick is for."""
    due = turn.due()
    if due is None:
        return ()
    return tuple(due == each for each in (turn.attempt_due(), turn.hold_due(), turn.client_due()))


def _shape(turn: Turn) -> Hashable:
    """How the failure will be told, whatever it is called."""
    parting = turn.parting
    return parting and (parting.frames is None, parting.answer and parting.answer.status)


def _clone(turn: Turn) -> Turn:
    """Frames and records are frozen and shared; the rest is copied."""
    twin = copy.copy(turn)
    twin.records, twin.pair = list(turn.records), list(turn.pair)
    if turn.attempt is not None:
        twin.attempt = copy.copy(turn.attempt)
        twin.attempt.hold = copy.copy(turn.attempt.hold)
        twin.attempt.hold.frames = list(turn.attempt.hold.frames)
        if turn.known is turn.attempt:
            twin.known = twin.attempt
    return twin


def next_events(world: World, moment: Moment) -> Iterator[tuple[Event, float]]:
    """What may happen next, and when."""
    watch, now = moment.watch, moment.now
    if moment.turn.state is State.NEW:
        yield on.Begin(), now
        return
    if watch.choosing:
        yield on.RouteChosen(world.place("b" if watch.opened else "a")), now
        yield from ((on.NoRoute(), now), (on.RouteFault(), now))
    yield from ((event, now) for event in LEDGER[watch.asked])
    if not watch.gone:
        yield from ((on.ClientGone(), now), (on.Paused(), now), (on.Resumed(), now))
    yield from ((on.Stop(code), now) for code in ("shutting_down", "internal_error"))
    due = moment.turn.due()
    yield from ((on.Tick(), now), (on.Tick(), now if due is None else max(due, now)))
    for attempt in range(1, watch.opened + 1):
        told = upstream(attempt) if attempt == watch.in_flight else late(attempt)
        yield from ((event, now) for event in told)


def _keeps_its_clocks(before: Moment, after: Moment) -> None:
    """Who has set a timer by what was due, and by the shortest clock, need not look again."""
    due, state = after.turn.due(), before.turn.state
    if due is None or after.turn.state is not state:
        return
    named = before.turn.due()
    soonest = before.now + before.turn.shortest()
    assert due >= (soonest if named is None else min(named, soonest)), "a clock that is too early"


def explore(world: World) -> set[Step]:
    """Go everywhere; every step that was taken. Fails at the first fault, with the way to it."""
    first = Moment(Turn(world.terms, lambda: world.room))
    ways: dict[Hashable, tuple[Event, ...]] = {first.key(): ()}
    waiting, steps = deque([first]), set()
    while waiting:
        moment = waiting.popleft()
        way = ways[moment.key()]
        for event, when in next_events(world, moment):
            try:
                after = moment.after(event, when)
                after.watch.dies()
                _keeps_its_clocks(moment, after)
            except (AssertionError, LookupError) as fault:
                fault.add_note("the way: " + "\n  ".join(map(str, (*way, event))))
                raise
            if moment.hears(event):
                steps.add((moment.turn.state, type(event), after.turn.state))
            if after.key() not in ways:
                ways[after.key()] = (*way, event)
                waiting.append(after)
    return steps
