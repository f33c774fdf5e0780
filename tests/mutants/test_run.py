"""The run itself: it kills, it tells a survivor, it never takes a broken lock for a kill."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from mutants.copies import Copy, copies
from mutants.run import judge, scenario_of, try_patch
from mutants.table import PACKAGE, ROOT, Mutant

LIMITS = "turn/limits.py"


@pytest.fixture(scope="module")
def copy() -> Iterator[Copy]:
    with copies(1) as (made,):
        yield made


def patch_of(before: str, after: str, path: str = f"{PACKAGE}/{LIMITS}") -> str:
    """What somebody would send who has changed that line of the limits."""
    source = (ROOT / PACKAGE / LIMITS).read_text(encoding="utf-8")
    old, new = (text.splitlines(keepends=True) for text in (source, source.replace(before, after)))
    return "".join(unified_diff(old, new, f"a/{path}", f"b/{path}"))


def mutant(text: str, becomes: str, *scenarios: str) -> Mutant:
    return Mutant("m", "R2", LIMITS, text, becomes, scenarios)


def test_a_mutant_is_killed_by_the_scenario_of_its_row(copy: Copy) -> None:
    broken = mutant("PAIR_WAIT_SECONDS = 1.0", "PAIR_WAIT_SECONDS = 0.1", "replayed/pair")
    killed, told = judge(broken, copy)
    assert (killed, told) == (True, "killed by scenarios/replayed/pair.turn")
    assert copy.play("replayed/pair") == [], "the copy is whole again"


SEEN_BY = "tests/ledger/test_made.py::test_it_is_found_by_its_owner_alone"


@pytest.mark.parametrize(
    ("becomes", "killed", "told"),
    [("? <> ''", True, "killed by its tests"), ("owner IS ?", False, f"SURVIVED {SEEN_BY}")],
)
def test_a_mutant_is_killed_by_the_tests_of_its_row(
    copy: Copy, becomes: str, killed: bool, told: str
) -> None:
    text = "FROM made WHERE owner = ?", f"FROM made WHERE {becomes}"
    broken = Mutant("m", "R3", "ledger/made.py", f"route {text[0]} AND", f"route {text[1]} AND",
                    tests=(SEEN_BY,))  # fmt: skip
    assert judge(broken, copy) == (killed, told)


def test_a_test_that_cannot_run_is_no_kill(copy: Copy) -> None:
    with pytest.raises(RuntimeError, match="cannot be run"):
        copy.passes("tests/ledger/test_made.py::test_that_is_not_there")


def test_a_row_that_names_the_wrong_scenario_is_told(copy: Copy) -> None:
    broken = mutant("ATTEMPTS = 2", "ATTEMPTS = 1", "result/completed")
    killed, told = judge(broken, copy)
    assert not killed
    assert told.startswith("NOT NOTICED by result/completed, but by ")


def test_what_cannot_be_played_is_no_kill(copy: Copy) -> None:
    with pytest.raises(RuntimeError, match="NameError"):
        judge(mutant("ATTEMPTS = 2", "ATTEMPTS = TWO", "result/completed"), copy)


def test_the_wires_are_played_where_the_bare_turn_sees_nothing(copy: Copy) -> None:
    late = 'COMMENT = b": keepalive\\n\\n"', 'COMMENT = b": still here\\n\\n"'
    broken = Mutant("m", "R5", "serve/stream.py", *late, ("clocks/early-headers",))
    assert judge(broken, copy) == (True, "killed by wire/clocks/early-headers.sse")


def test_a_mutant_that_never_ends_is_killed(copy: Copy) -> None:
    endless = "return min([t for t in times if t is not None], default=None)", "return 0.0"
    broken = Mutant("m", "R2", "turn/machine.py", *endless, ("hold/released-by-timer",))
    assert judge(broken, copy) == (True, "killed by scenarios/hold/released-by-timer.turn")


def test_a_patch_shows_what_it_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patch = tmp_path / "pair.patch"
    patch.write_text(patch_of("WAIT_SECONDS = 1.0", "WAIT_SECONDS = 0.1"), encoding="utf-8")
    assert try_patch(patch, "replayed/pair") == 1
    out = capsys.readouterr().out
    assert out.startswith("scenarios/replayed/pair.turn\n--- the fixture\n+++ recorded now\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        patch_of("ATTEMPTS = 2", "ATTEMPTS = 3").replace("-ATTEMPTS = 2", "-ATTEMPTS = 7"),
        patch_of("ATTEMPTS = 2", "ATTEMPTS = 3", "tests/limits.py"),
    ],
    ids=["empty", "of another source", "of tests alone"],
)
def test_a_patch_that_changes_no_source_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    patch = tmp_path / "other.patch"
    patch.write_text(text, encoding="utf-8")
    assert try_patch(patch) == 2
    assert "changes nothing below src/" in capsys.readouterr().out


def test_a_fixture_names_its_scenario() -> None:
    assert scenario_of("wire/replayed/pair.sse") == "replayed/pair"
