"""`make mutants`: every mutant of the table must be noticed by the scenarios and the tests that it
names.
`make mutant FILE=x.patch`: what the lock says of anybody's patch.

A mutant that its scenarios do not notice is played against the whole lock: then either its row
names the wrong scenario, or the lock has a hole, and a scenario is missing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from queue import SimpleQueue

from mutants.copies import Copy, copies
from mutants.table import Mutant, read

PROCESSES = 2
SHOWN = 5
"""Scenarios that are named where others than those of the row notice."""

CHECKED = "Checking patch src/"
"""What git says of a patch that it takes."""


def scenario_of(fixture: str) -> str:
    """The scenario that a fixture belongs to."""
    path = PurePosixPath(fixture)
    return path.relative_to(path.parts[0]).with_suffix("").as_posix()


def judge(mutant: Mutant, copy: Copy) -> tuple[bool, str]:
    """Is it killed as its row says; and by which fixtures, or what is wrong.

    RuntimeError: the broken source cannot be played at all, so that nothing is learnt.
    """
    source = (copy.folder / mutant.path).read_text(encoding="utf-8")
    with copy.broken(mutant.path, mutant.apply(source)):
        blind = [test for test in mutant.tests if copy.passes(test)]
        if blind or not mutant.scenarios:
            return not blind, f"SURVIVED {', '.join(blind)}" if blind else "killed by its tests"
        noticed = copy.play(*mutant.scenarios)
        missed = set(mutant.scenarios) - set(map(scenario_of, noticed))
        if not missed:
            return True, f"killed by {', '.join(noticed)}"
        others = sorted(set(map(scenario_of, copy.play(most=SHOWN))))
    if not others:
        return False, "SURVIVED the whole lock"
    return False, f"NOT NOTICED by {', '.join(missed)}, but by {', '.join(others)}"


def judge_all(mutants: list[Mutant]) -> Iterator[tuple[Mutant, bool, str]]:
    """In the table's order, each as soon as it is known."""
    free: SimpleQueue[Copy] = SimpleQueue()

    def one(mutant: Mutant) -> tuple[bool, str]:
        copy = free.get()
        try:
            return judge(mutant, copy)
        finally:
            free.put(copy)

    with copies(PROCESSES) as made, ThreadPoolExecutor(PROCESSES) as pool:
        check(made[0], mutants)
        for copy in made:
            free.put(copy)
        for mutant, (killed, told) in zip(mutants, pool.map(one, mutants), strict=True):
            yield mutant, killed, told


def check(copy: Copy, mutants: list[Mutant]) -> None:
    """SystemExit: the lock or a test does not hold as it is, so that it would kill anything."""
    differ = copy.play(most=SHOWN)
    differ += sorted(
        test for test in {test for each in mutants for test in each.tests} if not copy.passes(test)
    )
    if differ:
        sys.exit(f"nothing is broken yet, and there differ or fail: {', '.join(differ)}")


def run(mutants: list[Mutant]) -> int:
    """Print what became of each; the number of those that were not killed as their row says."""
    failed = 0
    for mutant, killed, told in judge_all(mutants):
        failed += not killed
        print(f"{mutant.rule:6} {mutant.file}: {mutant.id}: {told}", flush=True)
    print(f"{len(mutants) - failed} of {len(mutants)} mutants killed")
    return failed


def try_patch(patch: Path, *names: str) -> int:
    """Print the fixtures of these scenarios (none: of all) that a patch changes, and how.

    Returns 0: it changes none; 1: it does; 2: it does not apply.
    """
    with copies(1) as (copy,):
        command = ["git", "apply", "--verbose", "--include=src/*", str(patch.resolve())]
        applied = subprocess.run(command, cwd=copy.folder, capture_output=True, text=True)
        if applied.returncode or CHECKED not in applied.stderr:
            print(f"{patch} changes nothing below src/, or does not apply: {applied.stderr}")
            return 2
        changed = copy.play(*names, diff=True)
    print(*changed or ["The lock does not notice."], sep="\n")
    return 1 if changed else 0


def main(arguments: list[str]) -> int:
    """`--patch FILE`, or the ids of mutants; without: all of them."""
    if arguments[:1] == ["--patch"]:
        return try_patch(Path(arguments[1]))
    chosen = [mutant for mutant in read() if not arguments or mutant.id in arguments]
    return 1 if run(chosen) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
