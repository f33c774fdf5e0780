"""Hands over to the ledger's thread once in a round of the loop, not job by job.

A job that is put wakes the thread, which then takes turns with the loop for the interpreter: that
costs either of them more than the job. What one round of reads has asked for goes over as one list,
and so it most often becomes one commit. Nobody waits longer for it: the loop was busy till then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

RIDE_SECONDS = 0.01
"""For what nobody waits for, until it goes over alone. The records of so long a time more are lost
with a gateway that is killed; each that rides with another job spares a commit."""

Asked = TypeVar("Asked")


class Rounds(Generic[Asked]):
    """All on the loop's thread, in the order in which it was put. `give`: hand them over."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, give: Callable[[list[Asked]], None]
    ) -> None:
        self._loop, self._give = loop, give
        self._asked: list[Asked] = []
        self._soon = False
        self._timer: asyncio.TimerHandle | None = None

    def put(self, asked: Asked) -> None:
        self._asked.append(asked)
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self.end)

    def ride(self, asked: Asked) -> None:
        """Somebody else's next round will do, if there is one soon."""
        self._asked.append(asked)
        if self._timer is None:
            self._timer = self._loop.call_later(RIDE_SECONDS, self._ring)

    def end(self) -> None:
        """Hand over what there is."""
        self._soon = False
        if self._asked:
            asked, self._asked = self._asked, []
            self._give(asked)

    def stop(self) -> None:
        """For the last time."""
        if self._timer is not None:
            self._timer.cancel()
        self.end()

    def _ring(self) -> None:
        self._timer = None
        self.end()
