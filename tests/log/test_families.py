"""Label values come from closed sets, whatever a client sends."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter

from latchway.log.families import Family

SETS = {"model": frozenset({"m"}), "transport": frozenset({"http"})}


def family() -> tuple[Family[Counter], CollectorRegistry]:
    registry = CollectorRegistry()
    return Family(Counter, "turns", "turns", registry, SETS), registry


def test_a_thousand_unknown_values_make_one_series() -> None:
    turns, registry = family()

    for number in range(1000):
        turns.child(f"made-up-{number}", "http").inc()

    labels = {"model": "other", "transport": "http"}
    assert registry.get_sample_value("latchway_turns_total", labels) == 1000
    names = [sample.name for metric in registry.collect() for sample in metric.samples]
    assert names.count("latchway_turns_total") == 1


def test_a_child_is_made_once() -> None:
    turns, _ = family()

    assert turns.child("m", "http") is turns.child("m", "http")
    assert turns.child("m", "http") is not turns.child("m", "carrier pigeon")


def test_every_label_must_be_given() -> None:
    turns, _ = family()

    with pytest.raises(ValueError, match="zip"):
        turns.child("m")
