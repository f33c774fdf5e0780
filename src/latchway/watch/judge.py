"""What a latchway would do with the events that are watched: a turn of its own, without a client.

The turn is the gateway's (turn/machine.py). It is granted what a ledger would grant, its clocks run
on the watch's time, and what it delivers nobody gets.
"""

from __future__ import annotations

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.machine import State, Turn
from latchway.watch.asking import Asking

OVER = frozenset({State.CHOOSING_AGAIN, State.ENDED})
"""Nothing more is wanted of the attempt: the turn has ended, or would be replayed."""


class Judge:
    """`now` of each call: seconds since the watch began."""

    def __init__(self, asking: Asking) -> None:
        self.turn = Turn(asking.terms, lambda: True)
        for event in (on.Begin(), on.RouteChosen(asking.place), on.Reserved()):
            self.hear(event, 0.0)

    def hear(self, event: on.Event, now: float) -> list[int]:
        """The `id` of each frame that is delivered because of it."""
        passed: list[int] = []
        for command in self.turn.handle(event, now):
            if isinstance(command, do.Deliver):
                passed += map(id, command.frames)
            elif isinstance(command, do.Close):
                passed += self.hear(on.Closed(), now)
        return passed

    @property
    def over(self) -> bool:
        return self.turn.state in OVER

    @property
    def record(self) -> do.AttemptRecord | None:
        """How the attempt ended; None: it has not."""
        return self.turn.records[-1] if self.turn.records else None
