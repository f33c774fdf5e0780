"""Sums: what a run's counts mean, and what several runs say together.

A figure is told as its median with its spread, the distance from the least to the most as a share
of the median: a difference that is smaller than the spread is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from bench.results import Run, Times

MICRO = 1e6
KIB_PER_MIB = 1024

LEAST_SECONDS = 0.05
"""CPU below five ticks of the system's account is no measurement."""

Value = Callable[[Run, Run | None], float | None]
"""Of a run, given the run without a gateway of the same pass, if there was one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a run. One that is there to judge the others by is told without its spread."""

    title: str
    of: Value
    digits: int = 0
    judges: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of several runs, and how far they are apart."""

    middle: float
    spread: float

    @classmethod
    def over(cls, values: Iterable[float | None]) -> Figure | None:
        """None, if any run did not have it."""
        known: list[float] = []
        for value in values:
            if value is None:
                return None
            known.append(value)
        if not known:
            return None
        middle = median(known)
        return cls(middle, (max(known) - min(known)) / abs(middle) if middle else 0.0)


def turns_a_second(run: Run, direct: Run | None) -> float:
    return run.counted.turns / run.counted.seconds


def events_a_second(run: Run, direct: Run | None) -> float:
    return run.counted.events / run.counted.seconds


def cpu_of_a_turn(run: Run, direct: Run | None) -> float | None:
    return _cpu(run, run.counted.turns)


def cpu_of_an_event(run: Run, direct: Run | None) -> float | None:
    return _cpu(run, run.counted.events)


def _cpu(run: Run, count: int) -> float | None:
    if run.used.subject < LEAST_SECONDS or not count:
        return None
    return run.used.subject / count * MICRO


def _added(times: Callable[[Run], Times], quantile: Callable[[Times], float]) -> Value:
    """How much more than without a gateway; for that run itself, all of it."""

    def of(run: Run, direct: Run | None) -> float | None:
        if not times(run).count:
            return None
        without = quantile(times(direct)) if direct and direct is not run else 0.0
        return quantile(times(run)) - without

    return of


def _share(seconds: Callable[[Run], float]) -> Value:
    """Per cent of one core."""
    return lambda run, direct: 100 * seconds(run) / run.counted.seconds


def others(run: Run) -> float:
    """Seconds of CPU that nobody of the benchmark has used: the machine's noise."""
    return max(0.0, run.used.machine - run.used.subject - run.used.load)


def kib_each(run: Run, direct: Run | None) -> float | None:
    """What each connection holds."""
    return (run.held.load - run.held.rest) / run.connections if run.held.load else None


def _mib(kib: Callable[[Run], int]) -> Value:
    return lambda run, direct: kib(run) / KIB_PER_MIB if kib(run) else None


CPU_TURN = Column("CPU us/turn", cpu_of_a_turn, 1)
CPU_EVENT = Column("CPU us/event", cpu_of_an_event, 2)
KIB_EACH = Column("KiB each", kib_each, 1)
TURNS = Column("turns/s", turns_a_second)
EVENTS = Column("events/s", events_a_second)
REST = Column("rest MiB", _mib(lambda run: run.held.rest), 1)
PEAK = Column("peak MiB", _mib(lambda run: run.held.peak), 1)
FIRST = (
    Column("first +p50 us", _added(lambda run: run.counted.first, lambda times: times.p50)),
    Column("first +p99 us", _added(lambda run: run.counted.first, lambda times: times.p99)),
)
LATENCY = (
    Column("event +p50 us", _added(lambda run: run.counted.latency, lambda times: times.p50)),
    Column("event +p99 us", _added(lambda run: run.counted.latency, lambda times: times.p99)),
)
NOISE = (
    Column("core %", _share(lambda run: run.used.subject), judges=True),
    Column("load %", _share(lambda run: run.used.load), judges=True),
    Column("others %", _share(others), judges=True),
    Column("stolen %", _share(lambda run: run.used.stolen), judges=True),
)

COLUMNS: dict[str, Sequence[Column]] = {
    "short": (CPU_TURN, CPU_EVENT, TURNS, *FIRST, *LATENCY, *NOISE),
    "bulk": (CPU_TURN, CPU_EVENT, TURNS, *FIRST, *LATENCY, *NOISE),
    "paced": (CPU_EVENT, EVENTS, *FIRST, *LATENCY, *NOISE),
    "memory": (KIB_EACH, REST, *NOISE),
    "growth": (CPU_EVENT, CPU_TURN, TURNS, REST, PEAK, *NOISE),
}
"""By a workload's group. The first is what peers are compared by."""


def figure(column: Column, runs: Sequence[Run], directs: Sequence[Run | None]) -> Figure | None:
    """One column over the passes; `directs`: of each, the run without a gateway."""
    return Figure.over(column.of(run, direct) for run, direct in zip(runs, directs, strict=True))


def ratio(column: Column, runs: Sequence[Run], ours: Sequence[Run | None]) -> Figure | None:
    """How many times ours, pass by pass, so that a slow minute is slow for both."""
    return Figure.over(_times(column, *pair) for pair in zip(runs, ours, strict=True))


def _times(column: Column, run: Run, our: Run | None) -> float | None:
    one = column.of(run, None)
    other = column.of(our, None) if our else None
    return one / other if one and other else None
