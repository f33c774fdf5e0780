"""What a line becomes, and what is left alone; every explained breakage is still there."""

from __future__ import annotations

import ast

import pytest

from mutants.generate import Breakage, breakages
from mutants.mutate import (
    LOCK_TESTS,
    Equivalent,
    all_breakages,
    equivalents,
    own_tests,
    sources,
    wider_tests,
)


def changes(source: str) -> list[str]:
    found = list(breakages("x.py", source))
    assert all(ast.dump(ast.parse(each.source)) != ast.dump(ast.parse(source)) for each in found)
    return [each.change for each in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["< → <=", "< → >="]),
        ("a is not b", ["is not → is"]),
        ("a not in b", ["not in → in"]),
        ("(a) == (\n  b)", ["== → !="]),
        ("a and b and not c", ["and → or", "and → or", "not c → (c)"]),
        ("a + b // c", ["+ → -", "// → *"]),
        ("if a.b: pass", ["a.b → (not a.b)"]),
        ("x = a if b() else c", ["b() → (not b())"]),
        ("X = frozenset({1})", ["1 → 2"]),
        ("x = 1, 2.5, True", ["1 → 2", "2.5 → 3.5", "True → False"]),
        ("x = 'code', b'code'", ["'code' → \"changed\"", "b'code' → b\"changed\""]),
        ("f(a)", ["f(a) → pass"]),
        ("a.b = c", ["a.b = c → pass"]),
        ("a.b: int = c", ["a.b: int = c → pass"]),
        ("a += b", ["a += b → a = b", "a += b → pass"]),
        ("def f(): return a", ["return a → return None"]),
        ("for a in b: continue", ["continue → break"]),
        ("raise a", ["raise a → pass"]),
        ("x = 'ä' < b", ["'ä' → \"changed\"", "< → <=", "< → >="]),
    ],
)
def test_a_line_is_broken_in_every_small_way(source: str, expected: list[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "import a",
        "assert a < b",
        "def f(a: 'x' = None) -> 'y': return None",
        "x: 'a' = None",
        "x = 'Said to people.'",
        "__slots__ = ('a',)",
        "x = f'{a + b}'",
        "SOME_BYTES = 64 << 10",
        "@d(1)\nclass A(b(2), gc=False): pass",
    ],
)
def test_what_says_nothing_of_behaviour_is_left_alone(source: str) -> None:
    assert changes(source) == []


def test_a_breakage_says_where_it_is() -> None:
    (found,) = breakages("x.py", "a = 1\nif  a.b :\n    pass\n".replace("a = 1\n", "a = b\n"))
    assert (found.file, found.number, found.line) == ("x.py", 2, "if  a.b :")
    assert found.source == "a = b\nif  (not a.b) :\n    pass\n"


def test_every_source_has_tests_to_ask() -> None:
    assert "turn/decide.py" in sources()
    assert own_tests("wire/request.py") == [
        "tests/wire/test_request.py",
        "tests/wire/test_request_binding.py",
    ]
    assert wider_tests("turn/hold.py") == ["tests/turn", *LOCK_TESTS]
    assert wider_tests("ledger/bill.py") == ["tests/ledger"]


def test_every_explained_breakage_is_there_and_explained() -> None:
    there = list(all_breakages(sources()))
    rows = equivalents()
    assert [row for row in rows if not any(row.explains(each) for each in there)] == []
    assert len(set(rows)) == len(rows)
    assert all(row.reason for row in rows)


def test_a_row_explains_its_own_line_alone() -> None:
    row = Equivalent("x.py", 'A = "*"', "*", "a name")
    fits = Breakage("x.py", 1, 'A = "a"', "whatever", "")
    assert row.explains(fits)
    for field, value in (("file", "y.py"), ("line", 'AA = "a"')):
        assert not row.explains(Breakage(**{**vars(fits), field: value}))
