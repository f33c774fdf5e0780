"""The table of mutants: each row still applies, and no part of the rule is without one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby

import pytest

from latchway.turn import failures
from lock import fixtures
from mutants.copies import TESTED
from mutants.table import PACKAGE, ROOT, Mutant, changed, read

MUTANTS = read()
SCENARIOS = set(fixtures.names())
AT_LEAST = 120

RULE = re.compile(r"R1(\.[1-7])?|R2(\.([1-9]|1[0-7]))?|R[34567]|R10|law [1-9]")

NOT_IN_ONE_TURN = {
    "MARKS": "a later turn's route depends on it; tests/turn/test_attempt.py",
    "on.NoRoute: _to(Turn.fault_again, S.CLOSING)": "the table has the route that it said it had",
    "answered=ends": "a pair's own entry stands below it",
    "broke=ends": "a pair's own entry stands below it",
}
"""What no recording can show, and why."""

Named = tuple[str, ast.AST]
"""A piece of the source that some mutant must change."""


@cache
def source_of(file: str) -> str:
    return (ROOT / PACKAGE / file).read_text(encoding="utf-8")


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse(source_of(file))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_it_applies_and_is_sound(mutant: Mutant) -> None:
    broken = mutant.apply(source_of(mutant.file))
    assert ast.dump(ast.parse(broken)) != ast.dump(tree_of(mutant.file))
    assert RULE.fullmatch(mutant.rule)
    assert mutant.scenarios or mutant.tests
    assert set(mutant.scenarios) <= SCENARIOS
    assert all(_is_there(test) for test in mutant.tests)


def _is_there(test: str) -> bool:
    """Is the file in a folder that is copied, and the function in the file?"""
    file, _, function = test.partition("::")
    folder = file.removeprefix("tests/").partition("/")[0]
    return folder in TESTED and f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("what", [lambda mutant: mutant.id, lambda mutant: mutant])
def test_there_are_enough_and_none_is_there_twice(what: Callable[[Mutant], object]) -> None:
    assert len(MUTANTS) >= AT_LEAST
    assert max(Counter(map(what, MUTANTS)).values()) == 1


def test_a_text_that_is_not_there_or_twice_is_refused() -> None:
    mutant = Mutant("m", "R1", "turn/limits.py", "ATTEMPTS = 2", "ATTEMPTS = 1", ())
    for source in ("", "ATTEMPTS = 2\nATTEMPTS = 2\n"):
        with pytest.raises(ValueError, match="mutant m: its text stands"):
            mutant.apply(source)


# ---- what must be broken


def questions() -> Iterator[Named]:
    """Every `if` of the rule."""
    for node in ast.walk(_definition("turn/decide.py", "decide")):
        if isinstance(node, ast.If):
            yield ast.unparse(node.test), node


def failure_rows() -> Iterator[Named]:
    """Every way to fail, and every status and pattern that sorts them."""
    for name, value in _assigned("turn/failures.py"):
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "Failure":
            yield name, value
        elif re.search("_(STATUSES|PREFIXES|SUFFIXES|PARTS)$", name):
            yield from _constants(value)


def lines_of_codes() -> Iterator[Named]:
    """Every line of the table of codes that has one which no pattern would find."""
    for name, value in _assigned("turn/failures.py"):
        if name in ("RETRYABLE_CODES", "FINAL_CODES"):
            codes = [node for code, node in _constants(value) if _listed_for(code)]
            for _, line in groupby(codes, lambda node: node.lineno):
                yield _stretch(list(line))


def steps() -> Iterator[Named]:
    """Every entry of the machine's table, and every way out of a state that is named apart."""
    for node in ast.walk(tree_of("turn/machine.py")):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and ast.unparse(key).startswith("on."):
                    yield f"{ast.unparse(key)}: {ast.unparse(value)}", value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("_attempt", "_pairing"):
            yield from ((ast.unparse(each), each) for each in node.keywords)


def limits() -> Iterator[Named]:
    """Every limit of the heart."""
    yield from _assigned("turn/limits.py")


def clocks() -> Iterator[Named]:
    """Every clock of a route."""
    for node in ast.walk(_definition("turn/events.py", "Place")):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            name = ast.unparse(node.target)
            if name.endswith("_seconds"):
                yield name, node


WANTED: dict[str, tuple[Callable[[], Iterator[Named]], ...]] = {
    "turn/decide.py": (questions,),
    "turn/failures.py": (failure_rows, lines_of_codes),
    "turn/machine.py": (steps,),
    "turn/limits.py": (limits,),
    "turn/events.py": (clocks,),
}


@pytest.mark.parametrize(
    ("file", "pieces"),
    [(file, pieces) for file, all_pieces in WANTED.items() for pieces in all_pieces],
)
def test_every_piece_has_a_mutant(file: str, pieces: Callable[[], Iterator[Named]]) -> None:
    wanted = [(name, node) for name, node in pieces() if name not in NOT_IN_ONE_TURN]
    assert wanted
    assert [name for name, node in wanted if not _is_changed(file, node)] == []


def _is_changed(file: str, node: ast.AST) -> bool:
    """Does some mutant change something within the node, or take it away?"""
    first, last = _place(file, node)
    places = (changed(source_of(file), each) for each in MUTANTS if each.file == file)
    return any(start < last and end > first for start, end in places)


def _place(file: str, node: ast.AST) -> tuple[int, int]:
    """Where a node begins and ends, counted in characters: the sources' names are ASCII."""
    starts = [0]
    for line in source_of(file).splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    assert isinstance(node, ast.stmt | ast.expr | ast.keyword)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    first = starts[node.lineno - 1] + node.col_offset
    return first, starts[node.end_lineno - 1] + node.end_col_offset


def _definition(file: str, name: str) -> ast.AST:
    return next(node for node in tree_of(file).body if getattr(node, "name", None) == name)


def _assigned(file: str) -> Iterator[tuple[str, ast.expr]]:
    """Names of the module and what they are."""
    for node in tree_of(file).body:
        if isinstance(node, ast.Assign):
            yield ast.unparse(node.targets[0]), node.value


def _constants(within: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    for node in ast.walk(within):
        if isinstance(node, ast.Constant):
            yield str(node.value), node


def _stretch(line: list[ast.Constant]) -> Named:
    """Constants of one line as one piece: a mutant of any of them will do."""
    node = ast.copy_location(ast.Constant(...), line[0])
    node.end_col_offset = line[-1].end_col_offset
    return ", ".join(str(each.value) for each in line), node


def _listed_for(code: str) -> bool:
    """Would the code be taken for something else if it were not listed?"""
    retryable = failures.known(code)
    tables = ("RETRYABLE_CODES", "FINAL_CODES")
    with pytest.MonkeyPatch.context() as patch:
        for name in tables:
            patch.setattr(failures, name, frozenset(getattr(failures, name) - {code}))
        return failures.known(code) is not retryable
