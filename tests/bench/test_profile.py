"""Stacks become a table of own time."""

from __future__ import annotations

from collections import Counter

import pytest

from bench import profile

MAIN, LEDGER = (11, "MainThread"), (12, "latchway-ledger")
LOOP = "thread (11): MainThread;main (latchway/cli.py:46);Runner.run (asyncio/runners.py:118)"

STACKS = f"""\
{LOOP} 5
{LOOP};feed (latchway/wire/sse.py:10) 2
{LOOP};feed (latchway/wire/sse.py:11);<listcomp> (latchway/wire/sse.py:12) 1
thread (12): latchway-ledger;put (latchway/log/store.py:1) 4
not a stack
"""


def test_a_sample_counts_for_the_innermost_function_of_its_thread() -> None:
    assert profile.read(STACKS.splitlines()) == {
        MAIN: Counter({
            ("asyncio/runners.py", "Runner.run"): 5,
            ("latchway/wire/sse.py", "feed"): 2,
            ("latchway/wire/sse.py", "<listcomp>"): 1,
        }),
        LEDGER: Counter({("latchway/log/store.py", "put"): 4}),
    }  # fmt: skip


def test_modules_by_their_own_time_and_below_each_its_functions() -> None:
    counts = profile.read(STACKS.splitlines())[MAIN]
    assert [line.split(maxsplit=2) for line in profile.table(counts)] == [
        ["62.5", "%", "asyncio/runners.py"],
        ["62.5", "%", "Runner.run"],
        ["37.5", "%", "latchway/wire/sse.py"],
        ["25.0", "%", "feed"],
        ["12.5", "%", "<listcomp>"],
    ]


@pytest.mark.parametrize(("count", "shown"), [(1, 0), (10, 2)])
def test_what_is_next_to_nothing_is_left_out(count: int, shown: int) -> None:
    counts = Counter({("a.py", "much"): 990, ("b.py", "little"): count})
    assert len(list(profile.table(counts))) == 2 + shown
