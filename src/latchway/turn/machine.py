"""The turn: what happens next, for every state and event (replay.md R1 to R6).

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

    def handle(self, event: on.Event, now: float) -> list[Command]:
        """Answer one event. A late event of an attempt that is no longer wanted does nothing."""
        number = getattr(event, "attempt", None)
        if number is not None and (self.attempt is None or self.attempt.number != number):
            return []
        step, leads_to = STEPS[self.state][type(event)]
        before = self.state
        out: list[Command] = []
        step(self, event, now, out)
        assert self.state in leads_to, f"{before} + {event} -> {self.state}"
        return out

    def due(self) -> float | None:
        """When `Tick` is wanted next; None: nothing is timed."""
        if self.state not in CALLED:
            return None
        times = [self.attempt_due(), self.hold_due(), self.client_due()]
        return min((t for t in times if t is not None), default=None)


CALLED = frozenset({
    State.CALLING, State.HOLDING, State.RELEASED, State.STREAMING, State.PAIRING,
    State.PAIRING_LATE, State.RECORDING,
})  # fmt: skip
"""States in which something is timed."""

Step = tuple[Callable[[Turn, Any, float, list[Command]], None], frozenset[State]]


def _to(step: Callable[[Turn, Any, float, list[Command]], None], *states: State) -> Step:
    return step, frozenset(states)


def _attempt(state: State, *fails: State, **steps: Step) -> dict[type[on.Event], Step]:
    """The row of a state with an attempt in flight; `fails`: where its failure may lead."""
    stay = frozenset({state})
    row: dict[type[on.Event], Step] = {
        on.Connected: _to(Turn.connected, state),
        on.Sent: _to(Turn.sent, state),
        on.Headed: _to(Turn.headed, state),
        on.Commented: _to(Turn.comment, state),
        on.Paused: _to(Turn.pause, state),
        on.Resumed: _to(Turn.resume, state),
        on.Answered: _to(Turn.answered, *fails),
        on.Broke: _to(Turn.broke, *fails),
        on.Oversized: _to(Turn.oversized, *fails),
        on.ClientGone: _to(Turn.gone, State.CLOSING),
        on.Stop: _to(Turn.stop, State.CLOSING),
    }
    row[on.Arrived] = steps["arrived"]
    row[on.Tick] = Turn.tick, stay | frozenset(fails) | steps["tick"][1]
    return row


def _pairing(state: State, *fails: State) -> dict[type[on.Event], Step]:
    """The row of a state in which the second of a pair is awaited."""
    row = _attempt(
        state, *fails, arrived=_to(Turn.pair_on, state, *fails), tick=_to(Turn.tick, state)
    )
    row[on.Answered] = row[on.Broke] = row[on.Oversized] = _to(Turn.end_pair, *fails)
    row[on.ClientGone] = _to(Turn.leave_pair, State.CLOSING)
    row[on.Stop] = _to(Turn.stop_pair, State.CLOSING)
    return row


def _late(*states: State) -> dict[type[on.Event], Step]:
    """What no longer matters in a state that leads nowhere by it."""
    return {
        kind: _to(Turn.ignore, *states)
        for kind in (
            on.Connected, on.Sent, on.Headed, on.Arrived, on.Commented, on.Answered, on.Broke,
            on.Oversized, on.Tick, on.Paused, on.Resumed, on.ClientGone, on.Stop,
        )
    }  # fmt: skip


S = State
STEPS: dict[State, dict[type[on.Event], Step]] = {
    S.NEW: {on.Begin: _to(Turn.begin, S.CHOOSING)},
    S.CHOOSING: {
        **_late(S.CHOOSING),
        on.RouteChosen: _to(Turn.choose, S.RESERVING),
        on.NoRoute: _to(Turn.refuse_route, S.ENDED),
        on.RouteFault: _to(Turn.fault_route, S.ENDED),
        on.ClientGone: _to(Turn.note_gone, S.CHOOSING),
        on.Stop: _to(Turn.note_stop, S.CHOOSING),
    },
    S.RESERVING: {
        **_late(S.RESERVING),
        on.Reserved: _to(Turn.reserved, S.CALLING, S.CLOSING),
        on.Denied: _to(Turn.deny, S.ENDED),
        on.LedgerFailed: _to(Turn.refuse_unreserved, S.ENDED),
        on.ClientGone: _to(Turn.note_gone, S.RESERVING),
        on.Stop: _to(Turn.note_stop, S.RESERVING),
    },
    S.CALLING: _attempt(
        S.CALLING, S.CHOOSING_AGAIN, S.CLOSING,
        arrived=_to(Turn.arrive, S.CALLING, S.HOLDING, S.STREAMING, S.PAIRING, S.PAIRING_LATE,
                    S.CHOOSING_AGAIN, S.CLOSING),
        tick=_to(Turn.tick, S.CALLING),
    ),
    S.HOLDING: _attempt(
        S.HOLDING, S.CHOOSING_AGAIN, S.CLOSING,
        arrived=_to(Turn.arrive, S.HOLDING, S.STREAMING, S.PAIRING, S.PAIRING_LATE,
                    S.CHOOSING_AGAIN, S.CLOSING),
        tick=_to(Turn.tick, S.RELEASED),
    ),
    S.RELEASED: _attempt(
        S.RELEASED, S.CLOSING,
        arrived=_to(Turn.arrive, S.RELEASED, S.STREAMING, S.PAIRING_LATE, S.CLOSING),
        tick=_to(Turn.tick, S.RELEASED),
    ),
    S.STREAMING: _attempt(
        S.STREAMING, S.CLOSING,
        arrived=_to(Turn.arrive, S.STREAMING, S.PAIRING_LATE, S.CLOSING),
        tick=_to(Turn.tick, S.STREAMING),
    ),
    S.PAIRING: _pairing(S.PAIRING, S.CHOOSING_AGAIN, S.CLOSING),
    S.PAIRING_LATE: _pairing(S.PAIRING_LATE, S.CLOSING),
    S.CHOOSING_AGAIN: {
        **_late(S.CHOOSING_AGAIN),
        on.RouteChosen: _to(Turn.choose_again, S.RECORDING, S.CLOSING),
        on.NoRoute: _to(Turn.fault_again, S.CLOSING),
        on.RouteFault: _to(Turn.fault_again, S.CLOSING),
        on.ClientGone: _to(Turn.note_gone, S.CHOOSING_AGAIN),
        on.Stop: _to(Turn.note_stop, S.CHOOSING_AGAIN),
    },
    S.RECORDING: {
        **_late(S.RECORDING),
        on.ReplayRecorded: _to(Turn.replay_recorded, S.CALLING, S.CLOSING),
        on.LedgerFailed: _to(Turn.replay_unrecorded, S.CLOSING),
        on.Tick: _to(Turn.tick, S.RECORDING),
        on.ClientGone: _to(Turn.note_gone, S.RECORDING),
        on.Stop: _to(Turn.note_stop, S.RECORDING),
    },
    S.CLOSING: {
        **_late(S.CLOSING),
        on.Closed: _to(Turn.closed, S.ENDED),
        on.LedgerFailed: _to(Turn.unclosed, S.CLOSING, S.ENDED),
        on.ClientGone: _to(Turn.note_gone, S.CLOSING),
    },
    S.ENDED: {kind: _to(Turn.ignore, S.ENDED) for kind in get_args(on.Event)},
}  # fmt: skip
"""For each state: what each event does, and the states it may lead to."""
