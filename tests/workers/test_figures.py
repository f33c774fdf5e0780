"""Figures of several workers are one gateway's: sums that never go back, routes at their worst."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.log.metrics import Metrics
from latchway.log.record import Bill
from latchway.workers import figures
from latchway.workers.figures import Sums, families
from log.finishes import SERVED, finish


def counted(turns: int, open_turns: int = 0) -> Metrics:
    """What a worker has counted."""
    metrics = Metrics(("m",), ("a", "b"))
    for _ in range(turns + open_turns):
        metrics.turn_opened("http")
    for _ in range(turns):
        metrics.turn_ended(finish(SERVED), Bill(), model="m", transport="http")
    return metrics


def value(sums: Sums, name: str) -> float:
    """Of a series, as it stands in the text."""
    (line,) = (line for line in sums.render().decode().splitlines() if line.startswith(name + " "))
    return float(line.rpartition(" ")[2])


TURNS = 'latchway_turns_total{model="m",outcome="completed",transport="http"}'
OPEN = 'latchway_open_turns{transport="http"}'


def test_one_alone_is_told_as_it_is() -> None:
    metrics = counted(2, open_turns=1)
    sums = Sums()
    sums.add(families(metrics.registry))
    assert sums.render() == metrics.render()


def test_several_add_up_and_what_is_gone_keeps_its_counts_alone() -> None:
    sums = Sums()
    sums.add(families(counted(2, open_turns=1).registry))
    sums.add(families(counted(3, open_turns=2).registry))
    sums.add(families(counted(5, open_turns=4).registry), gone=True)
    assert value(sums, TURNS) == 10
    assert value(sums, "latchway_overhead_seconds_count") == 10
    assert value(sums, OPEN) == 3


def test_sums_can_be_added_again() -> None:
    gone, sums = Sums(), Sums()
    for turns in (1, 2):
        gone.add(families(counted(turns).registry), gone=True)
    sums.add(gone.families())
    sums.add(gone.families())
    assert value(sums, TURNS) == 6


def row(state: str, failures: int = 0, until: str | None = None) -> dict[str, Any]:
    return {"route": "a", "model": "m", "state": state, "failures": failures,
            "set_aside_until": until}  # fmt: skip


READY = row("ready")
ASIDE = row("set_aside", 5, "2026-11-29T12:00:00.000Z")
ASIDE_LONGER = row("set_aside", 6, "2026-11-29T12:00:30.000Z")
WORST = [
    ([READY], READY),
    ([READY, ASIDE], ASIDE),
    ([ASIDE, row("ready", 9)], {**ASIDE, "failures": 9}),
    ([ASIDE_LONGER, ASIDE, READY], ASIDE_LONGER),
    ([row("disabled"), row("disabled")], row("disabled")),
]


@pytest.mark.parametrize(("rows", "seen"), WORST)
def test_a_route_is_as_it_fares_where_it_fares_worst(
    rows: list[dict[str, Any]], seen: dict[str, Any]
) -> None:
    assert figures.routes([each] for each in rows) == [seen]


def test_of_nobody_nothing_is_known() -> None:
    assert figures.routes([]) == []
