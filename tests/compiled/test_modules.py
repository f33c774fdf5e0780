"""What is said of the compiled build in pyproject.toml can be built, without building it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compiled.modules import compiled_files, module_of
from repo.tree import SOURCE, tree_of

FILES = compiled_files()

KEPT = {"frozen=True"}
"""Keywords of a class that do no harm where they are lost: `values.Value` has said it already."""


def test_each_is_a_file_and_named_once() -> None:
    assert len(set(FILES)) == len(FILES) > 0
    assert [file for file in FILES if not file.is_file()] == []


def test_a_module_has_its_name() -> None:
    assert module_of(SOURCE / "turn" / "decide.py") == "latchway.turn.decide"


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_no_class_depends_on_what_compiling_loses(file: Path) -> None:
    classes = [node for node in ast.walk(tree_of(file)) if isinstance(node, ast.ClassDef)]
    bases = {ast.unparse(base) for each in classes for base in each.bases}
    assert "msgspec.Struct" not in bases
    assert {ast.unparse(word) for each in classes for word in each.keywords} <= KEPT


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_no_attribute_is_deleted(file: Path) -> None:
    """A compiled class keeps its attributes; mypyc refuses."""
    deleted = [
        ast.unparse(target)
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Delete)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    ]
    assert deleted == []
