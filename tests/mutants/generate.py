"""Small breakages by the thousand: every place of a source where one sign makes it another.

A row of `mutants.toml` breaks a rule on purpose; these break a line by its form, and ask whether
any test looks there. Left alone is what says nothing of behaviour: docstrings, types, imports,
assertions, words for people, the figures of named limits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

SIGNS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("+",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.Mod: ("%", ("*",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitAnd: ("&", ("|",)),
}
"""How a sign is written, and what it becomes."""

SPOKEN = " "
"""A string with a blank in it is said to people, who would understand other words, too."""

UNTOUCHED = (ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)
FIELDS_UNTOUCHED = frozenset({"annotation", "returns", "decorator_list", "bases"})
NAMES_UNTOUCHED = frozenset({"__slots__", "__all__"})

Change = tuple[int, int, str]
"""Bytes of the source, first and behind the last, and what stands there instead."""


@dataclass(frozen=True)
class Breakage:
    """One small change. `line`: the source's line, stripped; `change`: what becomes what."""

    file: str
    number: int
    line: str
    change: str
    source: str
    """All of the broken file."""


def breakages(file: str, source: str) -> Iterator[Breakage]:
    """All of a file's, each still a module of Python, in the order of their places."""
    text = _Text(source)
    changes = sorted({change for node in _behaviour(ast.parse(source)) for change in text.of(node)})
    for first, last, becomes in changes:
        was = text.data[first:last].decode()
        broken = (text.data[:first] + becomes.encode() + text.data[last:]).decode()
        number = text.data[:first].count(b"\n") + 1
        line = source.splitlines()[number - 1].strip()
        yield Breakage(file, number, line, f"{' '.join(was.split())} → {becomes}", broken)


def _behaviour(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in which a change could be seen from outside."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in FIELDS_UNTOUCHED or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST) and not _says_nothing(child):
                yield from _behaviour(child)


def _says_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        name = ast.unparse(node.targets[0])
        return name in NAMES_UNTOUCHED or (name.isupper() and _is_figure(node.value))
    return isinstance(node, UNTOUCHED)


def _is_figure(value: ast.expr) -> bool:
    """A limit: tests go by its name, as the source does, and whether it is good is a choice."""
    return all(
        isinstance(each, ast.BinOp | ast.operator)
        or (isinstance(each, ast.Constant) and isinstance(each.value, int | float))
        for each in ast.walk(value)
    )


class _Text:
    """A source by its bytes, which is how a syntax tree counts columns."""

    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def of(self, node: ast.AST) -> Iterator[Change]:
        """Every small change of the node itself."""
        make = CHANGES.get(type(node))
        if make is not None:
            yield from make(self, node)

    def whole(self, node: ast.AST, becomes: str) -> Iterator[Change]:
        yield (*self._span(node), becomes)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.stmt | ast.expr)
        first = self._starts[node.lineno - 1] + node.col_offset
        return first, self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def between(self, left: ast.expr, right: ast.expr, sign: type[ast.AST]) -> Iterator[Change]:
        """The sign that stands between two operands."""
        if sign not in SIGNS:
            return
        written, others = SIGNS[sign]
        first, last = self._span(left)[1], self._span(right)[0]
        at = self.data.index(written.encode(), first, last)
        for other in others:
            yield at, at + len(written), other

    # ---- by the kind of node

    def compare(self, node: ast.Compare) -> Iterator[Change]:
        for (left, right), sign in zip(
            pairwise([node.left, *node.comparators]), node.ops, strict=True
        ):
            yield from self.between(left, right, type(sign))

    def either(self, node: ast.BoolOp) -> Iterator[Change]:
        for left, right in pairwise(node.values):
            yield from self.between(left, right, type(node.op))

    def sum(self, node: ast.BinOp) -> Iterator[Change]:
        yield from self.between(node.left, node.right, type(node.op))

    def negation(self, node: ast.UnaryOp) -> Iterator[Change]:
        if isinstance(node.op, ast.Not):
            yield from self.whole(node, f"({ast.unparse(node.operand)})")

    def condition(self, node: ast.If | ast.IfExp | ast.While) -> Iterator[Change]:
        """One that has no sign of its own to be changed."""
        if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
            yield from self.whole(node.test, f"(not {ast.unparse(node.test)})")

    def constant(self, node: ast.Constant) -> Iterator[Change]:
        value = node.value
        if isinstance(value, bool):
            yield from self.whole(node, str(not value))
        elif isinstance(value, int | float):
            yield from self.whole(node, repr(value + 1))
        elif isinstance(value, str) and value and SPOKEN not in value:
            yield from self.whole(node, '"changed"')
        elif isinstance(value, bytes) and value:
            yield from self.whole(node, 'b"changed"')

    def call(self, node: ast.Expr) -> Iterator[Change]:
        if isinstance(node.value, ast.Call):
            yield from self.whole(node, "pass")

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> Iterator[Change]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Attribute | ast.Subscript):
            yield from self.whole(node, "pass")

    def addition(self, node: ast.AugAssign) -> Iterator[Change]:
        yield from self.whole(node, "pass")
        yield from self.whole(node, f"{ast.unparse(node.target)} = {ast.unparse(node.value)}")

    def answer(self, node: ast.Return) -> Iterator[Change]:
        if node.value is not None and ast.unparse(node.value) not in ("None", "True", "False"):
            yield from self.whole(node, "return None")

    def jump(self, node: ast.Continue | ast.Raise) -> Iterator[Change]:
        yield from self.whole(node, "break" if isinstance(node, ast.Continue) else "pass")


CHANGES: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
    ast.Compare: _Text.compare,
    ast.BoolOp: _Text.either,
    ast.BinOp: _Text.sum,
    ast.UnaryOp: _Text.negation,
    ast.If: _Text.condition,
    ast.IfExp: _Text.condition,
    ast.While: _Text.condition,
    ast.Constant: _Text.constant,
    ast.Expr: _Text.call,
    ast.Assign: _Text.assignment,
    ast.AnnAssign: _Text.assignment,
    ast.AugAssign: _Text.addition,
    ast.Return: _Text.answer,
    ast.Continue: _Text.jump,
    ast.Raise: _Text.jump,
}
