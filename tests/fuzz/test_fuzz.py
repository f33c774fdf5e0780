"""Half a minute of `make fuzz`, always the same inputs; and proof that it would find something."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.broken import BROKEN
from fuzz.engine import CORPUS, HANG_SECONDS, Finding, Target, examine, input_of, run
from fuzz.targets import TARGETS, share

INPUTS = 60_000
"""Of all targets together: about half a minute, with coverage measured."""

FILES = sorted(path for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("name", TARGETS)
def test_all_holds_of_many_inputs(name: str) -> None:
    assert run(TARGETS[name], range(share(TARGETS[name], INPUTS))) is None


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_all_holds_of_the_corpus(path: Path) -> None:
    assert examine(TARGETS[path.parent.name], path.read_bytes()) is None


def test_every_target_has_a_corpus() -> None:
    assert {path.parent.name for path in FILES} == set(TARGETS)


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_that_is_put_in_is_found(fault: str) -> None:
    name, broken = BROKEN[fault]
    with broken:
        found = run(TARGETS[name], range(share(TARGETS[name], INPUTS)))
        assert found is not None
        assert examine(TARGETS[name], found.data) is not None, "its file does not replay"
    assert examine(TARGETS[name], found.data) is None


def test_a_seed_is_one_input() -> None:
    for target in TARGETS.values():
        assert [input_of(target, seed) for seed in range(50)] == [
            input_of(target, seed) for seed in range(50)
        ]
        assert len({input_of(target, seed) for seed in range(50)}) > 25


def _refuses_z(data: bytes) -> None:
    assert b"z" not in data


def test_a_finding_is_made_small_and_keeps_its_seed() -> None:
    target = Target("z", lambda dice: b"xxxxxxxxxzxxxx", _refuses_z, 1)
    found = run(target, [7])
    assert isinstance(found, Finding)
    assert (found.data, found.seed) == (b"z", 7)
    assert "AssertionError" in found.fault
    assert found.name == "z-62d277af"


def _never_ends(data: bytes) -> None:
    while True:
        pass


def test_what_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert HANG_SECONDS > 1
    monkeypatch.setattr("fuzz.engine.HANG_SECONDS", 1)
    found = examine(Target("hang", lambda dice: b"", _never_ends, 1), b"")
    assert found is not None
    assert "Hung" in found.fault
