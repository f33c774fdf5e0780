"""How long a thing takes by itself, and how a line of `make costs` says it."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

TIMES, ROUNDS = 400, 25
"""A figure is the least of so many rounds, of so many times each: what is more, others took."""

SLEEP_SECONDS = 50e-6
"""Of a core, before what is to find it cold: about as long as in the workload `paced-200`."""


def say(what: str, microseconds: float) -> None:
    print(f"{microseconds:7.2f} us  {what}", flush=True)


def each_time(do_it: Callable[[], object]) -> float:
    """CPU of one time, in microseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(TIMES):
            do_it()
        best = min(best, time.process_time() - began)
    return best / TIMES * 1e6


def each_time_cold(do_it: Callable[[], object]) -> float:
    """Microseconds of one time on a core that has slept before each: the median of many."""
    taken = []
    for _ in range(ROUNDS * TIMES):
        time.sleep(SLEEP_SECONDS)
        began = time.perf_counter()
        do_it()
        taken.append(time.perf_counter() - began)
    return median(taken) * 1e6
