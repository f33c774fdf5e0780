"""Turns that a key leaves before output: free for it, not for the operator, so few a minute.

How few: `billing.free_aborts_per_minute`.
"""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 60.0


class FreeAborts:
    """Counts by key within a sliding minute. Times are seconds on one clock."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: dict[str, deque[float]] = {}

    def note(self, key: str, now: float) -> None:
        """The key left a turn before its output."""
        times = self._left.setdefault(key, deque(maxlen=max(1, self._per_minute)))
        times.append(now)

    def wait(self, key: str, now: float) -> float | None:
        """Seconds until the key may begin a turn again; None: it may now."""
        times = self._left.get(key)
        if times is None:
            return None
        while times and now - times[0] >= WINDOW_SECONDS:
            times.popleft()
        if not times:
            del self._left[key]
            return None
        if len(times) < self._per_minute:
            return None
        return times[0] + WINDOW_SECONDS - now
