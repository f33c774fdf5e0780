"""First sight of a background response: who made it is noted before its client sees its id.

Such a response is retrieved and cancelled while its turn runs, and as soon as `response.created` is
there. Any other's id is of use from the turn's end on, and is noted with that. A background request
is bound to its origin, so nothing that waits here could have forbidden a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latchway.ports import Granted, Unavailable, UpstreamEvent, Written
from latchway.turn import events as on
from latchway.wire.marks import mark

Tell = Callable[[UpstreamEvent], None]
Remember = Callable[[Sequence[bytes], Written], None]


class Sight:
    """What an attempt tells on its way to the turn. From the first event with an id until that is
    noted, which the ledger answers in time, whatever comes waits in its order."""

    def __init__(self, remember: Remember, tell: Tell) -> None:
        self._remember, self._tell = remember, tell
        self._seen = False
        self._waiting: list[UpstreamEvent] | None = None

    def hear(self, event: UpstreamEvent) -> None:
        if self._waiting is not None:
            self._waiting.append(event)
            return
        found = None if self._seen else _response_id(event)
        if found is None:
            self._tell(event)
            return
        self._seen, self._waiting = True, [event]
        self._remember([mark(found)], self._noted)

    def _noted(self, answer: Granted | Unavailable) -> None:
        """Or not: it is noted once more when the turn ends."""
        waiting, self._waiting = self._waiting, None
        for event in waiting or ():
            self._tell(event)


def _response_id(event: UpstreamEvent) -> str | None:
    frames = event.frames if isinstance(event, on.Arrived) else ()
    ids = (frame.note.response_id for frame in frames if frame.note is not None)
    return next((found for found in ids if found is not None), None)
