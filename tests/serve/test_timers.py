"""Timers by name."""

from __future__ import annotations

from harness.clock import VirtualClock
from latchway.serve.timers import Timers


def test_a_timer_that_is_set_again_is_moved() -> None:
    clock, fired = VirtualClock(), list[str]()
    timers = Timers(clock)
    timers.after("a", 1.0, lambda: fired.append("first"))
    timers.after("b", 1.0, lambda: fired.append("other"))
    timers.after("a", 2.0, lambda: fired.append("second"))
    clock.advance(3)
    assert fired == ["other", "second"]


def test_none_fires_after_it_was_cancelled() -> None:
    clock, fired = VirtualClock(), list[str]()
    timers = Timers(clock)
    for name in "abc":
        timers.after(name, 1.0, lambda name=name: fired.append(name))  # type: ignore[misc]
    timers.cancel("b")
    timers.cancel("unknown")
    clock.advance(1)
    timers.after("a", 1.0, lambda: fired.append("late"))
    timers.stop()
    clock.advance(2)

    assert fired == ["a", "c"]
    assert clock.pending == 0
