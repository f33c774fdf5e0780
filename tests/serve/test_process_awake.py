"""How long a process that leaves waits: time in which nothing of it runs is taken from nobody."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

import pytest

from latchway.serve.process import CLOSING_SECONDS, first_of

NEEDED_SECONDS = 2.0
"""In which what is waited for comes, once the process runs again."""


class SleepingLoop(asyncio.SelectorEventLoop):
    """Its time is its own: it passes while the loop waits, and in `sleep`, when nothing runs."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Passing(self))

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class _Passing(selectors.DefaultSelector):
    """No descriptor becomes ready but the loop's own; waiting moves the loop's time."""

    def __init__(self, loop: SleepingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nothing would ever come"
        self._loop.now += timeout
        return super().select(0)


def waited(asleep_at: float | None, needed: float) -> tuple[bool, float]:
    """Does the process hear of what comes `needed` seconds after it awoke; how long did it wait?"""

    async def run() -> tuple[bool, float]:
        over, began = asyncio.Event(), loop.time()

        def sleep() -> None:
            loop.sleep(12.0)
            loop.call_later(needed, over.set)

        if asleep_at is None:
            loop.call_later(needed, over.set)
        else:
            loop.call_later(asleep_at, sleep)
        await first_of(CLOSING_SECONDS, over)
        return over.is_set(), loop.time() - began

    loop = SleepingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(run())


@pytest.mark.parametrize("asleep_at", [0.0, 0.5, 1.5, 2.5])
def test_a_process_that_was_asleep_still_waits_for_its_turns(asleep_at: float) -> None:
    """Stopped, or on a machine that slept: their answers, too, come only when it runs again."""
    heard, seconds = waited(asleep_at, NEEDED_SECONDS)
    assert heard
    assert seconds == pytest.approx(asleep_at + 12.0 + NEEDED_SECONDS)


@pytest.mark.parametrize(
    ("needed", "heard"),
    [(0.5, True), (CLOSING_SECONDS - 0.1, True), (CLOSING_SECONDS + 0.1, False)],
)
def test_awake_it_waits_for_its_time_and_no_longer(needed: float, heard: bool) -> None:
    assert waited(None, needed) == (heard, pytest.approx(min(needed, CLOSING_SECONDS)))
