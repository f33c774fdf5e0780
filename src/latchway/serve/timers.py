"""The timers of one connection, by name: setting one again moves it."""

from __future__ import annotations

from collections.abc import Callable

from latchway.ports import Clock, Timer


class Timers:
    """Seconds from now on `clock`. None fires after `stop`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: dict[str, Timer] = {}

    def after(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        self.cancel(name)
        self._timers[name] = self._clock.call_at(self._clock.time() + seconds, then)

    def cancel(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        for name in list(self._timers):
            self.cancel(name)
