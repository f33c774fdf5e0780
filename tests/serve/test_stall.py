"""When a client that takes nothing is gone."""

from __future__ import annotations

import asyncio

from harness.clock import VirtualClock
from latchway.serve.stall import CHECKS, StallWatch

SECONDS = 120.0


class Watched(asyncio.Transport):
    def __init__(self) -> None:
        self.clock, self.unsent, self.gone = VirtualClock(), 1000, 0
        self.watch = StallWatch(self.clock, SECONDS, self)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def abort(self) -> None:
        self.gone += 1


def test_a_client_that_takes_nothing_is_gone_once() -> None:
    watched = Watched()
    watched.watch.start()
    watched.clock.advance(SECONDS - 1)
    assert watched.gone == 0
    watched.clock.advance(10 * SECONDS)
    assert watched.gone == 1


def test_one_byte_within_the_time_is_enough() -> None:
    watched = Watched()
    watched.watch.start()
    for _ in range(20):
        watched.clock.advance(SECONDS - SECONDS / CHECKS)
        watched.unsent -= 1
    assert watched.gone == 0


def test_what_is_written_meanwhile_is_no_progress() -> None:
    watched = Watched()
    watched.watch.start()
    for _ in range(CHECKS):
        watched.unsent += 14
        watched.clock.advance(SECONDS / CHECKS)
    assert watched.gone == 1


def test_a_watch_that_was_stopped_sees_nothing() -> None:
    watched = Watched()
    watched.watch.start()
    watched.watch.stop()
    watched.watch.stop()
    watched.clock.advance(10 * SECONDS)
    assert watched.gone == 0
    assert watched.clock.pending == 0


def test_a_watch_that_is_started_again_begins_anew() -> None:
    watched = Watched()
    watched.watch.start()
    watched.clock.advance(SECONDS - 1)
    watched.watch.start()
    watched.clock.advance(SECONDS - 1)
    assert watched.gone == 0
    assert watched.clock.pending == 1
