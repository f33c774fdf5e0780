"""How often a worker is started anew: at once after a mishap, never in a frenzy.

A worker that served and died costs its own turns, and is replaced. Workers that die before they
serve say that something is wrong which a further start will not mend.
"""

from __future__ import annotations

FAILED_MOST = 5
"""Starts in a row without one that came to serve; then the gateway ends and says so."""
EVERY_SECONDS = 1.0
"""Between two starts once the first ones are used up: the start of a process is half a second of a
core, which the turns of the others need."""


class Starts:
    """For `workers` of them. Time is an argument."""

    def __init__(self, workers: int, now: float) -> None:
        self._most = float(workers)
        self._left, self._at = self._most, now
        self._failed = 0

    def served(self) -> None:
        """One has come to serve."""
        self._failed = 0

    def again(self, now: float, *, served: bool) -> float | None:
        """Seconds until another is started, in place of one that is gone; None: never.

        As many as there are workers may be started at once: all may die of one mishap.
        """
        self._failed = 0 if served else self._failed + 1
        if self._failed >= FAILED_MOST:
            return None
        self._left = min(self._most, self._left + (now - self._at) / EVERY_SECONDS) - 1.0
        self._at = now
        return max(0.0, -self._left * EVERY_SECONDS)
