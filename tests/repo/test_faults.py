"""No fault is hidden: what is caught is named.

The list holds the places where everything is caught, with the reason: the ends of the world,
where a fault of ours must become the refund of one turn and not the end of all the others.
"""

from __future__ import annotations

import ast

from repo.tree import CLIENT, SOURCE, TESTS, functions, name_of, python_files

EVERYTHING = frozenset({"Exception", "BaseException"})

CATCH_ALL: dict[str, str] = {
    "tests/fuzz/engine.py:examine": "any fault of what is fuzzed is what it looks for",
    "tests/mutants/judge.py:differences": "whatever a mutant raises shows that it was noticed",
    "tests/sim/lives.py:_live": "a bug that gets as far as the world's edge is a violation, too",
    "src/latchway/drive.py:_step": "our own fault in one turn refunds that turn and ends no other",
}


def test_everything_is_caught_only_where_the_list_says() -> None:
    found = {
        f"{name_of(path)}:{function.name}"
        for path in python_files(SOURCE) + python_files(CLIENT) + python_files(TESTS)
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    }
    assert found == set(CATCH_ALL)


def test_no_fault_is_suppressed_whole() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in python_files(SOURCE) + python_files(CLIENT)
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("suppress")
        and EVERYTHING & {ast.unparse(argument) for argument in node.args}
    ]
    assert found == []


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return bool(EVERYTHING & {ast.unparse(kind) for kind in kinds})
