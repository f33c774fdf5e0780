"""Label values come from closed sets, whatever a client sends; sums are what was counted."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from latchway.log.families import Family, Histogram

SETS = {"model": frozenset({"m"}), "transport": frozenset({"http"})}


def family(kind: str = "counter") -> tuple[Family, CollectorRegistry]:
    registry = CollectorRegistry()
    return Family(kind, "turns", "turns", registry, SETS), registry


def test_a_thousand_unknown_values_make_one_series() -> None:
    turns, registry = family()

    for number in range(1000):
        turns.add(1, f"made-up-{number}", "http")

    labels = {"model": "other", "transport": "http"}
    assert registry.get_sample_value("latchway_turns_total", labels) == 1000
    names = [sample.name for metric in registry.collect() for sample in metric.samples]
    assert names == ["latchway_turns_total"]


def test_each_combination_of_values_has_its_own_sum() -> None:
    turns, registry = family()

    turns.add(1, "m", "http")
    turns.add(2.5, "m", "http")
    turns.add(1, "m", "carrier pigeon")

    sums = {
        tuple(sample.labels.values()): sample.value
        for metric in registry.collect()
        for sample in metric.samples
    }
    assert sums == {("m", "http"): 3.5, ("m", "other"): 1}


def test_every_label_must_be_given() -> None:
    turns, _ = family()

    with pytest.raises(ValueError, match="zip"):
        turns.add(1, "m")


def test_what_has_no_labels_begins_at_zero() -> None:
    registry = CollectorRegistry()
    Family("counter", "turns", "turns", registry, {})

    assert registry.get_sample_value("latchway_turns_total") == 0


def test_a_gauge_goes_both_ways_and_may_be_put() -> None:
    turns, registry = family("gauge")
    labels = {"model": "m", "transport": "http"}

    turns.add(2, "m", "http")
    turns.add(-1, "m", "http")
    assert registry.get_sample_value("latchway_turns", labels) == 1
    turns.put(7, "m", "http")
    assert registry.get_sample_value("latchway_turns", labels) == 7


def test_a_value_is_counted_in_the_first_bucket_that_holds_it() -> None:
    registry = CollectorRegistry()
    seconds = Histogram("seconds", "how long", (0.5, 1.0), registry)

    for value in (0.25, 0.5, 0.75, 8.0):
        seconds.observe(value)

    assert generate_latest(registry).decode().splitlines() == [
        "# HELP latchway_seconds how long",
        "# TYPE latchway_seconds histogram",
        'latchway_seconds_bucket{le="0.5"} 2.0',
        'latchway_seconds_bucket{le="1.0"} 3.0',
        'latchway_seconds_bucket{le="+Inf"} 4.0',
        "latchway_seconds_count 4.0",
        "latchway_seconds_sum 9.5",
    ]
