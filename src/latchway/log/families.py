"""A family of metrics whose label values come from closed sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge

Kind = TypeVar("Kind", Counter, Gauge)

OTHER = "other"
"""Stands for every value that is not in its set: it may be a client's own word."""


class Family(Generic[Kind]):
    """Children are made once and kept: asking the library for one costs more than counting."""

    def __init__(
        self,
        kind: type[Kind],
        name: str,
        help_text: str,
        registry: CollectorRegistry,
        labels: Mapping[str, frozenset[str]],
    ) -> None:
        name = f"latchway_{name}"
        self._metric: Kind = kind(name, help_text, tuple(labels), registry=registry)
        self._sets = tuple(labels.values())
        self._children: dict[tuple[str, ...], Kind] = {}

    def child(self, *values: str) -> Kind:
        """The child for these values, in the order of the labels."""
        known = tuple(
            value if value in allowed else OTHER
            for value, allowed in zip(values, self._sets, strict=True)
        )
        found = self._children.get(known)
        if found is None:
            found = self._children[known] = self._metric.labels(*known)
        return found
