"""Regular expressions mean the same on every Python that is supported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NEW_IN_3_11 = re.compile(r"(?<!\\)[*+?}]\+|\(\?>")
"""Possessive quantifiers and atomic groups: the first releases of 3.11 forget within them what a
group held, and so find what does not match."""


def patterns() -> Iterator[tuple[str, str]]:
    for file in (*ROOT.glob("src/**/*.py"), *ROOT.glob("client/src/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                for each in ast.walk(node):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str | bytes):
                        text = each.value
                        yield file.name, text if isinstance(text, str) else text.decode("latin-1")


def test_no_pattern_is_possessive_or_atomic() -> None:
    found = list(patterns())
    assert len(found) > 10
    assert [each for each in found if NEW_IN_3_11.search(each[1])] == []


def test_what_is_looked_for_is_found() -> None:
    assert all(NEW_IN_3_11.search(each) for each in ("a*+", "a++", "a?+", "a{2}+", "(?>a)"))
    assert not any(NEW_IN_3_11.search(each) for each in ("a+", r"\++", "a*", "(?:a)"))
