"""How a fault is told."""

from __future__ import annotations

import pytest

from latchway.config.faults import ConfigError, Fault, Report, path_text

FAULT = Fault("latchway.yaml", 7, "models.m.routes[0].provider", "is missing")


def test_a_fault_prints_its_place_and_what_is_wrong() -> None:
    assert str(FAULT) == "latchway.yaml:7: models.m.routes[0].provider: is missing"


def test_advice_is_marked_and_a_whole_file_has_no_path() -> None:
    assert str(Fault("f", 1, "", "is empty", "advice")) == "f:1: advice: is empty"


def test_an_error_has_a_line_for_each_fault() -> None:
    assert str(ConfigError([FAULT, FAULT])) == f"{FAULT}\n{FAULT}"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ((), ""),
        (("listen",), "listen"),
        (("models", "gpt-5.6", "routes", 2, "name"), "models.gpt-5.6.routes[2].name"),
        (("a\x1b[2J",), "'a\\x1b[2J'"),
    ],
)
def test_a_path_is_written_as_it_is_read_aloud(where: tuple[str | int, ...], text: str) -> None:
    assert path_text(where) == text


def test_what_is_missing_has_the_line_of_what_it_is_missing_from() -> None:
    report = Report("f", {})
    report.lines |= {("models",): 3, ("models", "m"): 4}
    report.fault(("models", "m", "routes", 0, "provider"), "is missing")
    assert report.faults[0].line == 4


def test_findings_stand_in_the_files_order_and_advice_is_no_fault() -> None:
    report = Report("f", {})
    report.lines |= {("b",): 9, ("a",): 2}
    report.fault(("b",), "second")
    report.advise(("a",), "first")
    assert [each.message for each in report.found] == ["first", "second"]
    assert [each.message for each in report.faults] == ["second"]
