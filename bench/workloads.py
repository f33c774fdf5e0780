"""What is run: each workload is a row, its turn told by the model's name (see upstream.c)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

RAMP_PER_SECOND = 1_250
"""Connections opened in a second: below what a subject can serve, so that no backlog is filled;
eight seconds for the most."""

IDLE_UPSTREAM = 1_024
"""Connections to the upstream that a subject may keep when no turn runs."""

SPARE_SOCKETS = 200
"""For all else that a process has open."""

SECONDS_MOST = 15.0
"""A run's ramp, warm-up and measurement together: a pass stays short, and a machine usable."""


@dataclass(frozen=True, slots=True)
class Workload:
    """So many connections, on each of them one turn after the other."""

    name: str
    group: str
    connections: int
    events: int
    gap_ms: int = 0
    turns: int = -1
    """On a connection, which then stays open; below zero: without end."""

    @property
    def model(self) -> str:
        return f"bench-{self.events}-{self.gap_ms}"

    @property
    def sockets(self) -> int:
        """The most that the subject has open: for each running turn one on either side."""
        upstream = IDLE_UPSTREAM if self.turns >= 0 else self.connections
        return self.connections + upstream + SPARE_SOCKETS

    @property
    def ramp_seconds(self) -> float:
        """Paced turns begin over a whole gap at least, so that their events are spread evenly."""
        spread = 1.0 if self.gap_ms else 0.0
        return max(spread, self.connections / RAMP_PER_SECOND)


SHORT = Workload("short", "short", connections=64, events=10)
BULK = Workload("bulk", "bulk", connections=16, events=508)

PACED = tuple(
    Workload(f"paced-{streams}", "paced", connections=streams, events=250, gap_ms=20)
    for streams in (50, 200, 1_000, 2_000)
)
"""An event each 20 ms: a read and a write each. A turn lasts five seconds."""

OPEN = tuple(
    Workload(f"open-{streams}", "memory", connections=streams, events=60, gap_ms=1_000)
    for streams in (1_000, 4_000, 9_000)
)
"""Streams that are open and do little: what each one holds. The subject has two sockets for each,
and 20,000 is as many as some machines allow."""

IDLE = tuple(
    Workload(f"idle-{sockets}", "memory", connections=sockets, events=10, turns=1)
    for sockets in (1_000, 4_000, 10_000)
)
"""Sockets that have had one turn and wait."""

GROWTH = tuple(
    Workload(f"growth-{events}", "growth", connections=1, events=events)
    for events in (10, 100, 1_000, 10_000, 100_000)
)
"""Turns of any length cost the same for each event, in time and in memory."""

WORKLOADS = (SHORT, BULK, *PACED, *OPEN, *IDLE, *GROWTH)


class Unknown(Exception):
    """A name that no row of a table has."""


def chosen(names: list[str]) -> Iterator[Workload]:
    """Those of these names and groups, in the table's order. Raises Unknown."""
    known = {each.name for each in WORKLOADS} | {each.group for each in WORKLOADS}
    if strange := sorted(set(names) - known):
        raise Unknown(f"no workload {', '.join(strange)}; known: {', '.join(sorted(known))}")
    return (each for each in WORKLOADS if each.name in names or each.group in names)
