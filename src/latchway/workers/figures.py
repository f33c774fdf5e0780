"""The figures of all workers as one: what `/metrics` and `/admin/routes` show, whoever is asked.

Counters and histograms add up, those of workers that are gone included, so that none goes back.
Gauges add up over the workers that are there. A route is as it fares where it fares worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector

from latchway.workers.messages import Family

GAUGE = "gauge"

Labels = tuple[tuple[str, str], ...]

WORSE = ("ready", "set_aside", "disabled")
"""States of a route, from good to bad."""


def families(registry: Collector) -> list[Family]:
    """What a registry holds at this moment."""
    return [
        Family(
            metric.name,
            metric.documentation,
            metric.type,
            [(sample.name, sample.labels, sample.value) for sample in metric.samples],
        )
        for metric in registry.collect()
    ]


class Sums(Collector):
    """Families that were added up, a collector for the library's text."""

    def __init__(self) -> None:
        self._families: dict[str, tuple[str, str, dict[tuple[str, Labels], float]]] = {}

    def add(self, more: Iterable[Family], *, gone: bool = False) -> None:
        """`gone`: of a worker that is not there any more; its gauges are of nothing."""
        for family in more:
            _, _, sums = self._families.setdefault(family.name, (family.help, family.kind, {}))
            if not (gone and family.kind == GAUGE):
                for name, labels, value in family.samples:
                    key = name, tuple(labels.items())
                    sums[key] = sums.get(key, 0.0) + value

    def families(self) -> list[Family]:
        """As they are now, to be added elsewhere."""
        return families(self)

    def collect(self) -> Iterator[Metric]:
        for name, (text, kind, sums) in self._families.items():
            metric = Metric(name, text, kind)
            for (sample, labels), value in sums.items():
                metric.add_sample(sample, dict(labels), value)
            yield metric

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self)


def routes(states: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of `/admin/routes`, of which every worker has the same routes in the same order: set
    aside if one has it aside, until the last of them tries it; the most failures in a row."""
    return [_worst(rows) for rows in zip(*states, strict=True)]


def _worst(rows: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    ends = [row["set_aside_until"] for row in rows if row["set_aside_until"] is not None]
    return {
        **rows[0],
        "state": max((row["state"] for row in rows), key=WORSE.index),
        "failures": max(row["failures"] for row in rows),
        "set_aside_until": max(ends, default=None),
    }
