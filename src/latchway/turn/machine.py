"""The turn: what happens next, for every state and event (R1 to R6).

`Turn.handle(event, now)` returns the commands that answer one event. Nothing here waits, reads a
clock or touches a socket. `STEPS` is the transition table: it lists for each state what each event
does and where it may lead, and `handle` asserts it: a second guard, independent of `decide`,
against a replay after output. The steps themselves stand in `between.py` (nothing in flight),
`running.py` (an attempt in flight), `ending.py` (verdict, bill, record) and `delivery.py` (the
latch).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from latchway.turn import events as on
from latchway.turn.commands import Command
from latchway.turn.delivery import State, Terms
from latchway.turn.running import Running

__all__ = ["STEPS", "State", "Terms", "Turn"]


class Turn(Running):
    """One turn: feed it events, carry out its commands in order, tick it at `due()`."""

    __slots__ = ()

    def handle(self, event: on.Event, now: float) -> list[Command]:
        """Answer one event. A late event of an attempt that is no longer wanted does nothing."""
        number = getattr(event, "attempt", None)
        if number is not None and (self.attempt is None or self.attempt.number != number):
            return []
        step, leads_to = STEPS[self.state][type(event)]
        before = self.state
        out: list[Command] = []
        step(self, event, now, out)
        assert self.state in leads_to, f"{before} + {type(event).__name__} -> {self.state}"
        return out

    def due(self) -> float | None:
        """When `Tick` is wanted next; None: nothing is timed."""
        if self.state not in CALLED:
            return None
        times = [self.attempt_due(), self.hold_due(), self.client_due()]
        return min([t for t in times if t is not None], default=None)

    def shortest(self) -> float:
        """Seconds from any moment within which nothing is due but what `due` names then, if the
        state stays: a clock that starts within a state runs for so long at least."""
        place, terms = self.live.place, self.terms
        clocks = (
            place.first_event_timeout_seconds, place.idle_timeout_seconds,
            terms.whole_answer_timeout_seconds, terms.keepalive_seconds,
        )  # fmt: skip
        return min(seconds for seconds in clocks if seconds > 0)


CALLED = frozenset({
    State.CALLING, State.HOLDING, State.RELEASED, State.STREAMING, State.PAIRING,
    State.PAIRING_LATE, State.RECORDING,
})  # fmt: skip
"""States in which something is timed."""

Does = Callable[[Turn, Any, float, list[Command]], None]
Step = tuple[Does, frozenset[State]]
Row = dict[type[on.Event], Step]
Where = tuple[State, ...]


def _to(does: Does, *states: State) -> Step:
    return does, frozenset(states)


def _ignored(state: State, kinds: tuple[type[on.Event], ...]) -> Row:
    return {kind: _to(Turn.ignore, state) for kind in kinds}


def _awaiting(state: State) -> Row:
    """The row of a state in which somebody's answer is awaited: who leaves is noted until then."""
    return {
        **_ignored(state, (on.Tick, on.Paused, on.Resumed)),
        on.ClientGone: _to(Turn.note_gone, state),
        on.Stop: _to(Turn.note_stop, state),
    }


def _left(state: State) -> Row:
    """What an attempt tells that the turn has left."""
    return _ignored(state, get_args(on.UpstreamEvent))


def _attempt(state: State, *, arrived: Step, answered: Where, broke: Where, tick: Where) -> Row:
    """The row of a state with an attempt in flight: what differs from state to state is named."""
    return {
        on.Connected: _to(Turn.connected, state),
        on.Sent: _to(Turn.sent, state),
        on.Headed: _to(Turn.headed, state),
        on.Commented: _to(Turn.comment, state),
        on.Paused: _to(Turn.pause, state),
        on.Resumed: _to(Turn.resume, state),
        on.Arrived: arrived,
        on.Answered: _to(Turn.answered, *answered),
        on.Broke: _to(Turn.broke, *broke),
        on.Oversized: _to(Turn.oversized, State.CLOSING),
        on.Tick: _to(Turn.tick, state, *tick),
        on.ClientGone: _to(Turn.gone, State.CLOSING),
        on.Stop: _to(Turn.stop, State.CLOSING),
    }


def _pairing(state: State, ends: Where) -> Row:
    """The row of a state in which the second of a pair is awaited; whatever comes ends the wait."""
    ended = _to(Turn.end_pair, *ends)
    return {
        **_attempt(
            state, arrived=_to(Turn.pair_on, state, *ends), answered=ends, broke=ends, tick=ends
        ),
        on.Answered: ended,
        on.Broke: ended,
        on.Oversized: ended,
        on.ClientGone: _to(Turn.leave_pair, State.CLOSING),
        on.Stop: _to(Turn.stop_pair, State.CLOSING),
    }


S = State
OVER: Where = (S.CLOSING,)
MAYBE_AGAIN: Where = (S.CHOOSING_AGAIN, S.CLOSING)
"""Only from here can a replay begin; the rule decides."""

STEPS: dict[State, Row] = {
    S.NEW: {on.Begin: _to(Turn.begin, S.CHOOSING)},
    S.CHOOSING: {
        **_awaiting(S.CHOOSING),
        on.RouteChosen: _to(Turn.choose, S.RESERVING),
        on.NoRoute: _to(Turn.refuse_route, S.ENDED),
        on.RouteFault: _to(Turn.fault_route, S.ENDED),
    },
    S.RESERVING: {
        **_awaiting(S.RESERVING),
        on.Reserved: _to(Turn.reserved, S.CALLING, S.CLOSING),
        on.Denied: _to(Turn.deny, S.ENDED),
        on.LedgerFailed: _to(Turn.refuse_unreserved, S.ENDED),
    },
    S.CALLING: _attempt(
        S.CALLING,
        arrived=_to(Turn.arrive, S.CALLING, S.HOLDING, S.STREAMING, S.PAIRING, S.PAIRING_LATE,
                    S.CHOOSING_AGAIN, S.CLOSING),
        answered=MAYBE_AGAIN, broke=MAYBE_AGAIN, tick=MAYBE_AGAIN,
    ),
    S.HOLDING: _attempt(
        S.HOLDING,
        arrived=_to(Turn.arrive, S.HOLDING, S.STREAMING, S.PAIRING, S.PAIRING_LATE,
                    S.CHOOSING_AGAIN, S.CLOSING),
        answered=MAYBE_AGAIN, broke=OVER, tick=(S.RELEASED, S.CLOSING),
    ),
    S.RELEASED: _attempt(
        S.RELEASED,
        arrived=_to(Turn.arrive, S.RELEASED, S.STREAMING, S.PAIRING_LATE, S.CLOSING),
        answered=OVER, broke=OVER, tick=OVER,
    ),
    S.STREAMING: _attempt(
        S.STREAMING,
        arrived=_to(Turn.arrive, S.STREAMING, S.PAIRING_LATE, S.CLOSING),
        answered=OVER, broke=OVER, tick=OVER,
    ),
    S.PAIRING: _pairing(S.PAIRING, MAYBE_AGAIN),
    S.PAIRING_LATE: _pairing(S.PAIRING_LATE, OVER),
    S.CHOOSING_AGAIN: {
        **_awaiting(S.CHOOSING_AGAIN),
        **_left(S.CHOOSING_AGAIN),
        on.RouteChosen: _to(Turn.choose_again, S.RECORDING, S.CLOSING),
        on.NoRoute: _to(Turn.fault_again, S.CLOSING),
        on.RouteFault: _to(Turn.fault_again, S.CLOSING),
    },
    S.RECORDING: {
        **_awaiting(S.RECORDING),
        **_left(S.RECORDING),
        on.ReplayRecorded: _to(Turn.replay_recorded, S.CALLING, S.CLOSING),
        on.LedgerFailed: _to(Turn.replay_unrecorded, S.CLOSING),
        on.Tick: _to(Turn.tick, S.RECORDING),
    },
    S.CLOSING: {
        **_awaiting(S.CLOSING),
        **_left(S.CLOSING),
        on.Closed: _to(Turn.closed, S.ENDED),
        on.LedgerFailed: _to(Turn.unclosed, S.CLOSING, S.ENDED),
        on.Stop: _to(Turn.ignore, S.CLOSING),
    },
    S.ENDED: _ignored(S.ENDED, get_args(on.Event)),
}  # fmt: skip
"""For each state: what each event does, and the states it may lead to. No row: it cannot come."""
