"""What is told of an event is read from its bytes, and counted within a bound."""

from __future__ import annotations

import pytest

from harness.upstreams import event
from latchway.watch.seen import (
    CLASSES,
    OTHER_TYPES,
    TEXT_CHARACTERS,
    TYPES_MAX,
    Fate,
    Report,
    Seen,
    cut_reason,
    name_and_number,
)
from latchway.wire.frame import Kind


@pytest.mark.parametrize(
    ("payload", "name", "number"),
    [
        (b'{"type": "response.created", "sequence_number": 3}', "response.created", 3),
        (b'{"type": "x"}', "x", None),
        (b'{"type": "x", "sequence_number": "3"}', "x", None),
        (b'{"sequence_number": true}', "(output)", None),
        (b"no JSON", "(output)", None),
        (b'{"type": 5}', "(output)", None),
    ],
)
def test_an_event_has_a_name_and_a_number(payload: bytes, name: str, number: int | None) -> None:
    assert name_and_number(payload, Kind.OUTPUT) == (name, number)


def test_a_name_is_bounded() -> None:
    payload = b'{"type": "%b"}' % (b"x" * (2 * TEXT_CHARACTERS))

    assert len(name_and_number(payload, Kind.OUTPUT)[0]) == TEXT_CHARACTERS


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"incomplete_details": None}, None),
        ({}, None),
        ({"incomplete_details": {"reason": 5}}, None),
    ],
)
def test_why_a_result_is_incomplete(response: dict[str, object], reason: str | None) -> None:
    assert cut_reason(event("response.incomplete", response=response)) == reason


def seen(at: float, name: str, class_: str, fate: Fate = Fate.PASSED) -> Seen:
    return Seen(at, 0.0, name, None, 10, class_, fate)


def test_a_report_counts_and_keeps_the_first_moments() -> None:
    report = Report()
    report.count(seen(0.1, "response.created", "lifecycle", Fate.HELD))
    report.count(seen(0.2, "x", "output"))
    report.count(seen(0.3, "x", "output"))

    assert (report.first_event, report.first_output, report.last_event) == (0.1, 0.2, 0.3)
    assert report.types == {"response.created": 1, "x": 2}
    assert report.sizes["x"] == 20
    assert report.held == 1


def test_types_beyond_all_measure_are_counted_together() -> None:
    report = Report()
    for number in range(TYPES_MAX + 5):
        report.count(seen(0.1, f"type {number}", "output"))
    report.count(seen(0.1, "type 0", "output"))

    assert len(report.types) == TYPES_MAX + 1
    assert report.types[OTHER_TYPES] == 5
    assert report.types["type 0"] == 2


def test_every_kind_has_a_class() -> None:
    assert set(CLASSES) == set(Kind)
