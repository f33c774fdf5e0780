"""Whole worlds, by fixed seeds; `make sim` lives new ones by the thousand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sim import __main__ as runs
from sim import coverage
from sim.bugs import BUGS, SOURCE, TESTS, Bug, plant
from sim.lives import live, retold

WORLDS_IN_A_TEST = 6
EARLY = 12
"""Worlds of the first seeds, within which the bugs that are planted here are found."""


@pytest.mark.parametrize("first", range(0, 30, WORLDS_IN_A_TEST))
def test_nothing_is_violated_in_any_world(first: int) -> None:
    lives = live(range(first, first + WORLDS_IN_A_TEST))
    assert [(each.seed, each.message, each.story) for each in lives.violated] == []
    assert lives.counted["turns", "all"] > 50 * WORLDS_IN_A_TEST


def test_a_seed_is_the_whole_story() -> None:
    assert retold(77) == retold(77)
    assert retold(77) != retold(78)


def test_a_seed_is_one_story_in_every_process() -> None:
    """Nothing hangs on addresses, hashes or the wall clock."""
    assert _told(77, "1") == _told(77, "2")


def _told(seed: int, hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-m", "sim", "--seed", str(seed)],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "replayed although work was seen",
        "delivered before it is settled",
        "a refund that the disk refused is forgotten",
    ],
)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    bug = next(bug for bug in BUGS if bug.name == name)
    plant(bug, tmp_path / "latchway")
    run = subprocess.run(
        [sys.executable, "-m", "sim", "--processes", "1", "--first", "1", "--turns",
         str(100 * EARLY)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(TESTS)))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1, run.stdout
    assert "make sim SEED=" in run.stdout


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_can_still_be_planted(bug: Bug, tmp_path: Path) -> None:
    """In each file that it changes, and it is still a program."""
    plant(bug, tmp_path / "latchway")
    for file, _, _ in bug.changes:
        planted = (tmp_path / "latchway" / file).read_text(encoding="utf-8")
        assert planted != (SOURCE / file).read_text(encoding="utf-8")
        compile(planted, file, "exec")


def test_a_bug_whose_place_has_changed_is_named(tmp_path: Path) -> None:
    moved = replace(BUGS[0], changes=(("turn/decide.py", "no such line", ""),))
    with pytest.raises(LookupError, match="is not once in turn"):
        plant(moved, tmp_path / "latchway")


def test_a_fault_that_did_not_meet_a_phase_is_named() -> None:
    counted = dict.fromkeys(coverage.required(), coverage.AT_LEAST)
    assert coverage.missing(counted) == []
    counted["stall", "pairing"] = coverage.AT_LEAST - 1
    assert coverage.missing(counted) == [(("stall", "pairing"), coverage.AT_LEAST - 1)]


@pytest.mark.parametrize(
    ("made", "met", "enough"),
    [(0.9, 20, False), (1.0, 20, True), (1.0, 19, False), (1.9, 19, False), (2.0, 19, True)],
)
def test_a_whole_run_goes_on_for_a_pair_that_comes_late(
    made: float, met: int, enough: bool
) -> None:
    counted = Counter(dict.fromkeys(coverage.required(), met))
    counted["turns", "all"] = int(made * coverage.WHOLE_TURNS)
    assert runs._enough(counted, coverage.WHOLE_TURNS) is enough


def test_a_short_run_meets_what_it_meets() -> None:
    assert runs._enough(Counter({("turns", "all"): 100}), 100)
    assert not runs._enough(Counter({("turns", "all"): 99}), 100)
