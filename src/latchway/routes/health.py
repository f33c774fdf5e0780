"""Setting a failing route aside (R10). Pure: values in, values out, time is an argument.

A route that fails so many times in a row is set aside: last in order, never out of it. When its
time is over, one turn tries it in its place; a result brings it back, a failure sets it aside for
twice as long. The try is taken by moving the end of the time, so a try that never ends (its client
left, its turn was refused before the call) is followed by another, and none is ever stuck.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from latchway.settings import HealthSettings

COUNTED_RULES = frozenset({"R2.1", "R2.2", "R2.6"})
"""Failures that say the route does not work now. The others say something of the request, the
client or the gateway, and are neither counted nor end the row."""

LONGEST_ASIDE_SECONDS = 120.0
"""A route that works again is missed for two minutes at most."""


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of one route."""

    failures: int = 0
    """In a row, without a result between them."""
    aside_until: float | None = None
    """Set aside until then; None: it is not."""
    aside_seconds: float = 0.0
    """For how long it was set aside the last time."""
    tried: bool = False
    """A turn tries it; its outcome decides."""

    def is_aside(self, now: float) -> bool:
        """Is it last in order at this moment?"""
        return self.aside_until is not None and now < self.aside_until

    def chosen(self, now: float) -> Health:
        """After a turn was sent to it: if its time was over, that turn is the one that tries it."""
        if self.aside_until is None or self.is_aside(now):
            return self
        return replace(self, aside_until=now + self.aside_seconds, tried=True)

    def ended(self, rule: str | None, now: float, settings: HealthSettings) -> Health:
        """After an attempt on it ended. `rule`: the failure's own row; None: a result."""
        if rule is None:
            return HEALTHY
        if rule not in COUNTED_RULES:
            return self
        return replace(self, failures=self.failures + 1)._judged(now, settings)

    def _judged(self, now: float, settings: HealthSettings) -> Health:
        if self.aside_until is None:
            if self.failures < settings.failures:
                return self
            return self._set_aside(now, settings.set_aside_seconds)
        if not self.tried:
            return self  # An attempt that began before; it tells nothing new.
        longest = max(LONGEST_ASIDE_SECONDS, settings.set_aside_seconds)
        return self._set_aside(now, min(2 * self.aside_seconds, longest))

    def _set_aside(self, now: float, seconds: float) -> Health:
        return replace(self, aside_until=now + seconds, aside_seconds=seconds, tried=False)


HEALTHY = Health()
