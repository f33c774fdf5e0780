"""Tests wait for what they test, never for the time to pass; each source file has its test."""

from __future__ import annotations

import ast
from pathlib import Path

from repo.tree import ROOT, SOURCE, TESTS, functions, name_of, python_files, tree_of

SLEEPS = frozenset({"sleep", "time.sleep", "asyncio.sleep", "gevent.sleep"})

WITHOUT_OWN_TEST: dict[str, str] = {
    "__main__.py": "one line; tests/test_cli.py starts it",
    "ports.py": "protocols and values",
    "settings.py": "values",
    "turn/events.py": "values",
    "turn/commands.py": "values",
    "wire/frame.py": "values",
    "turn/limits.py": "numbers",
    "serve/limits.py": "numbers",
    "demo/pair.py": "a protocol",
    "demo/play.py": "tests/commands/test_demo.py plays it",
    "demo/llama_server.py": "needs 200 MB; `latchway demo --llama` starts it",
}
"""Source files without a test file of the same name, and what tests them instead."""


def test_no_test_sleeps() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in python_files(TESTS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in SLEEPS
    ]
    assert found == []


def test_every_source_file_has_a_test_of_the_same_name() -> None:
    missing = {
        path.relative_to(SOURCE).as_posix()
        for path in python_files(SOURCE)
        if path.name != "__init__.py" and not _test_of(path).exists()
    }
    assert missing == set(WITHOUT_OWN_TEST)


def test_every_test_says_what_holds() -> None:
    """A test asserts, or expects a raise; one that does neither cannot fail."""
    empty = [
        f"{name_of(path)}:{function.name}"
        for path in python_files(TESTS)
        for function in functions(path)
        if function.name.startswith("test_") and not _can_fail(function)
    ]
    assert empty == []


def _can_fail(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """It asserts itself, or calls something: a helper that asserts, `pytest.raises`."""
    return any(isinstance(node, ast.Assert | ast.Call) for node in ast.walk(function))


def _test_of(path: Path) -> Path:
    where = path.relative_to(ROOT / "src" / "latchway")
    return TESTS / where.parent / f"test_{where.name}"
