"""PROBE.md is printed, not written; what it points at is there."""

from __future__ import annotations

import pytest

from lock import probe
from repo.tree import ROOT, functions

SHOWN_BY_TESTS = sorted(set(probe.by_tests().values()))


def test_the_page_is_as_printed() -> None:
    """`make lock` prints it."""
    assert probe.PAGE.read_text(encoding="utf-8") == probe.page()


@pytest.mark.parametrize("test", SHOWN_BY_TESTS)
def test_a_test_that_shows_a_case_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert file.startswith("- ") or name in {each.name for each in functions(ROOT / file)}


def test_no_case_is_in_the_table_that_a_scenario_shows() -> None:
    doubly = [case for case, by in probe.shown().items() if case in probe.by_tests() and by[1:]]
    assert doubly == []
