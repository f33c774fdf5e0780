"""A reader is met at the door: modules, classes and functions say what they are for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repo.tree import CLIENT, SOURCE, TESTS, name_of, python_files, tree_of

SPEAKS_FOR_ITSELF = 6
"""Lines. A value of three fields, or a function of one line, is said better by its names."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name_of(path)
        for path in python_files(SOURCE) + python_files(CLIENT) + python_files(TESTS)
        if not ast.get_docstring(tree_of(path)) and path.name != "__init__.py"
    ]
    silent += [
        name_of(path)
        for path in [*SOURCE.rglob("__init__.py"), CLIENT / "__init__.py"]
        if not ast.get_docstring(tree_of(path))
    ]
    assert silent == []


def test_what_is_public_says_what_it_promises() -> None:
    silent = [
        f"{name_of(path)}:{definition.name}"
        for path in python_files(SOURCE) + python_files(CLIENT)
        for definition in _public(tree_of(path))
        if not ast.get_docstring(definition) and _lines(definition) > SPEAKS_FOR_ITSELF
    ]
    assert silent == []


def _public(module: ast.Module) -> Iterator[Definition]:
    """Classes and functions at the top of a module whose names are for others."""
    for node in module.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def _lines(definition: Definition) -> int:
    return (definition.end_lineno or 0) - definition.lineno + 1
