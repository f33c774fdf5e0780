"""Families of metrics whose label values come from closed sets, counted in plain numbers.

A turn counts a dozen things. The library's own counters take a lock and three calls for each; here
one is an addition, made on the loop's thread alone. The library is told of the sums when somebody
asks, which may be on another thread: what it walks through is a copy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

OTHER = "other"
"""Stands for every value that is not in its set: it may be a client's own word."""

SUFFIXES = {"counter": "_total", "gauge": ""}
"""Of a sample's name, by the family's kind."""


class Family(Collector):
    """Counters or gauges, one for each combination of label values. `labels`: their sets."""

    def __init__(
        self,
        kind: str,
        name: str,
        help_text: str,
        registry: CollectorRegistry,
        labels: Mapping[str, frozenset[str]],
    ) -> None:
        self._name, self._help, self._kind = f"latchway_{name}", help_text, kind
        self._labels, self._sets = tuple(labels), tuple(labels.values())
        self._sums: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}
        registry.register(self)

    def add(self, amount: float, *values: str) -> None:
        """`values`: in the order of the labels."""
        if values not in self._sums:
            values = self._known(values)
        self._sums[values] += amount

    def put(self, amount: float, *values: str) -> None:
        self._sums[self._known(values)] = amount

    def _known(self, values: tuple[str, ...]) -> tuple[str, ...]:
        known = tuple(
            value if value in allowed else OTHER
            for value, allowed in zip(values, self._sets, strict=True)
        )
        self._sums.setdefault(known, 0.0)
        return known

    def collect(self) -> Iterator[Metric]:
        metric = Metric(self._name, self._help, self._kind)
        sample = self._name + SUFFIXES[self._kind]
        for values, amount in self._sums.copy().items():
            metric.add_sample(sample, dict(zip(self._labels, values, strict=True)), amount)
        yield metric


class Histogram(Collector):
    """How often a value came, by bounds that are its buckets' upper ends."""

    def __init__(
        self, name: str, help_text: str, bounds: Sequence[float], registry: CollectorRegistry
    ) -> None:
        self._name, self._help, self._bounds = f"latchway_{name}", help_text, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterator[Metric]:
        ends = (*map(str, self._bounds), "+Inf")
        buckets = list(zip(ends, map(float, accumulate(self._counts)), strict=True))
        yield HistogramMetricFamily(self._name, self._help, buckets=buckets, sum_value=self._sum)
