"""One moment, moved and called off; the timer below it is left alone where it can be."""

from __future__ import annotations

from harness.clock import VirtualClock
from latchway.alarm import Alarm


class World:
    """An alarm, and when it has rung, in seconds from the beginning."""

    def __init__(self) -> None:
        self.clock, self.rung = VirtualClock(0.0), list[float]()
        self.alarm = Alarm(self.clock)

    def set(self, seconds: float) -> None:
        self.alarm.set(seconds, lambda: self.rung.append(self.clock.time()))


def test_it_rings_once_at_its_moment() -> None:
    world = World()
    world.set(3.0)
    world.clock.advance(10.0)
    assert world.rung == [3.0]
    assert world.clock.pending == 0


def test_moved_later_it_keeps_its_timer_and_rings_later() -> None:
    world = World()
    world.set(3.0)
    world.clock.advance(1.0)
    world.set(5.0)
    assert world.clock.pending == 1
    world.clock.advance(10.0)
    assert world.rung == [6.0]


def test_moved_earlier_it_rings_earlier() -> None:
    world = World()
    world.set(9.0)
    world.set(2.0)
    assert world.clock.pending == 1
    world.clock.advance(10.0)
    assert world.rung == [2.0]


def test_called_off_it_does_not_ring_and_can_be_set_again() -> None:
    world = World()
    world.set(3.0)
    world.alarm.clear()
    world.clock.advance(4.0)
    assert (world.rung, world.clock.pending) == ([], 0)
    world.set(1.0)
    world.clock.advance(1.0)
    assert world.rung == [5.0]


def test_set_again_behind_being_called_off_it_rings_at_the_new_moment() -> None:
    world = World()
    world.set(3.0)
    world.alarm.clear()
    world.set(8.0)
    world.clock.advance(10.0)
    assert world.rung == [8.0]


def test_it_can_be_set_from_within_its_ring() -> None:
    world = World()
    world.alarm.set(1.0, lambda: world.set(2.0))
    world.clock.advance(10.0)
    assert world.rung == [3.0]


def test_nothing_rings_after_it_was_stopped() -> None:
    world = World()
    world.set(3.0)
    world.alarm.stop()
    world.alarm.stop()
    assert world.clock.pending == 0
    world.clock.advance(10.0)
    assert world.rung == []
