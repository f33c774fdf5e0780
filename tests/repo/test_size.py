"""Functions, modules and lines stay short. These limits may only shrink.

The lists name what is longer, with the size it has now: what shrinks must be lowered here, and
nothing may be added.
"""

from __future__ import annotations

from pathlib import Path

from repo.tree import CLIENT, SOURCE, TESTS, functions, name_of, python_files, text_of

FUNCTION_LINES = 40
MODULE_LINES = 300
TEST_MODULE_LINES = 450
"""A test module is a list of cases, and read one case at a time."""
COLUMNS = 100

LONGER_FUNCTIONS: dict[str, int] = {}
LONGER_MODULES: dict[str, int] = {}

ALL = python_files(SOURCE) + python_files(CLIENT) + python_files(TESTS)


def test_no_function_is_longer_than_a_screen() -> None:
    longer = {
        f"{name_of(path)}:{function.name}": size
        for path in ALL
        for function in functions(path)
        if (size := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    }
    assert longer == LONGER_FUNCTIONS


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    longer = {
        name_of(path): size
        for path in ALL
        if (size := len(text_of(path).splitlines())) > _most_lines(path)
    }
    assert longer == LONGER_MODULES


def _most_lines(path: Path) -> int:
    return TEST_MODULE_LINES if path.is_relative_to(TESTS) else MODULE_LINES


def test_no_line_is_wider_than_the_page() -> None:
    wider = [
        f"{name_of(path)}:{number}"
        for path in ALL
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if len(line) > COLUMNS
    ]
    assert wider == []
