"""What must have met what: a fault that never struck in a phase has not been simulated there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sim.events import SORTS
from sim.fates import STATES
from sim.faults import DIALS, STATUSES

AT_LEAST = 20
"""Times that each pair is met in a whole run."""

WHOLE_TURNS = 500_000

PLAYED = ("calling", "holding", "released", "streaming")
"""States in which an attempt's events pass or are held."""
PAIRED = ("pairing", "pairing_late")

MISHAPS = ("leave_fin", "leave_rst", "stop", "stall", "disk_begin", "disk_commit", "disk_slow",
           "killed")  # fmt: skip

Pair = tuple[str, str]


class Counted(Counter[Pair]):
    """How often what has met what."""

    def hit(self, what: str, phase: str) -> None:
        self[what, phase] += 1


def required() -> Iterator[Pair]:
    """Every (fault, phase) that there can be; an upstream's with the attempt that it ended."""
    for attempt in (1, 2):
        yield from ((f"{fault} {attempt}", phase) for fault, phase in _of_upstreams())
        yield f"early_reset {attempt}", "streaming"
    yield from ((mishap, state) for mishap in MISHAPS for state in STATES)
    yield from (("ledger_failed", state) for state in ("reserving", "recording", "closing"))


def _of_upstreams() -> Iterator[Pair]:
    breaks = ("reset", "end", "torn", "chunk_end", "done", "garbage", "oversized")
    failing = tuple(f"failed_{sort}" for sort in SORTS)
    yield from ((fault, phase) for fault in (*breaks, *failing, "pair") for phase in PLAYED)
    yield from (("silence", phase) for phase in ("calling", "released", "streaming"))
    errors = (*(f"error_{sort}" for sort in SORTS), "pair")
    yield from ((fault, phase) for fault in errors for phase in PAIRED)
    answers = (*(f"status_{status}" for status in STATUSES), "error_under_200", "neither",
               "failed_whole")  # fmt: skip
    yield from ((fault, "calling") for fault in (*DIALS, *answers))
    yield "overflow", "holding"


def missing(counted: dict[Pair, int], at_least: int = AT_LEAST) -> list[tuple[Pair, int]]:
    """Pairs that were met less often than that, and how often."""
    return [(pair, n) for pair in required() if (n := counted.get(pair, 0)) < at_least]
