"""The clock of a process: what is waited for comes in its order, and only what is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from latchway.moments import ROOM, Moments

SHORT, SHORTER = 0.02, 0.01
"""Seconds of the loop's own clock, which these tests cannot move."""


def on_a_loop(play: Callable[[Moments, asyncio.Event], Any]) -> None:
    """Play it, and wait until it sets the event; on either loop, for their clocks differ."""

    async def run() -> None:
        over = asyncio.Event()
        play(Moments(asyncio.get_running_loop()), over)
        await over.wait()

    for loop_factory in (uvloop.new_event_loop, asyncio.new_event_loop):
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(run())


def test_what_is_due_comes_in_its_order_and_never_before_its_moment() -> None:
    seen: list[tuple[str, bool]] = []

    def play(clock: Moments, over: asyncio.Event) -> None:
        def at(name: str, when: float) -> None:
            clock.call_at(when, lambda: seen.append((name, clock.time() >= when)))

        start = clock.time()
        at("late", start + SHORT)
        at("early", start + SHORTER)
        at("as early", start + SHORTER)
        at("past", start - 1)
        clock.call_at(start + SHORT, over.set)

    on_a_loop(play)
    assert seen == [(name, True) for name in ("past", "early", "as early", "late")] * 2


def test_what_was_called_off_does_not_come_even_at_its_moment() -> None:
    seen: list[str] = []

    def play(clock: Moments, over: asyncio.Event) -> None:
        when = clock.time() + SHORTER
        clock.call_at(when, lambda: second.cancel())
        second = clock.call_at(when, lambda: seen.append("called off"))
        clock.call_at(when, over.set)

    on_a_loop(play)
    assert seen == []


def test_what_is_asked_for_at_a_moment_is_waited_for_in_its_turn() -> None:
    seen: list[int] = []

    def play(clock: Moments, over: asyncio.Event) -> None:
        def again() -> None:
            seen.append(len(seen))
            if len(seen) % 3:
                clock.call_at(clock.time(), again)
            else:
                over.set()

        clock.call_at(clock.time() + SHORTER, again)

    on_a_loop(play)
    assert seen == [*range(6)]


def test_a_fault_at_one_moment_keeps_no_other_from_coming(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def play(clock: Moments, over: asyncio.Event) -> None:
        when = clock.time() + SHORTER
        clock.call_at(when, lambda: 1 // 0)
        clock.call_at(when, over.set)

    on_a_loop(play)
    assert caplog.text.count("ZeroDivisionError") == 2


def test_what_was_called_off_is_forgotten_before_its_moment() -> None:
    """Turns are short and their clocks long: at any rate of turns, little waits."""
    clock = Moments(asyncio.new_event_loop())
    kept = [clock.call_at(1e9 + number, print) for number in range(ROOM)]
    for number in range(20 * ROOM):
        clock.call_at(2e9 - number, print).cancel()
    assert len(clock._waiting) <= 2 * ROOM + 1
    assert [clock._waiting[0], *kept[1:]] == kept
    clock._loop.close()
