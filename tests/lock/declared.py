"""A change of the lock is declared first, in a commit of its own (R9): the history is walked.

A fragment in `changes/` declares by a line `lock: NAME …`. A name is that of a scenario
(`hold/released-by-timer`), of one of its fixtures (`hold/released-by-timer.sse`), or a pattern of
either (`hold/*`). The next commit that changes a line of LOCK must change what is declared: all of
it, and nothing else. A fixture that is new changes nothing. The commit that added LOCK, or the
newest release after it, is where the walk begins.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from lock.fixtures import lines_of

LOCK = "tests/lock/LOCK"
CHANGES = "changes"
MARK = "lock:"
RELEASES = "v*"
WORKING_TREE = "what is not committed"


class NoHistory(Exception):
    """The walk has nothing to walk on; the message says why."""


@dataclass(frozen=True)
class Step:
    """One commit. `declared`: names of its fragments. `changed`: fixtures that are other than
    before, or gone. `locked`: those that there were before."""

    commit: str
    declared: tuple[str, ...]
    changed: frozenset[str]
    locked: frozenset[str]


def faults(steps: Iterable[Step]) -> list[str]:
    """What was changed without being declared, or declared and not changed."""
    found: list[str] = []
    waiting: list[str] = []
    """Declared, and not yet made."""
    for step in steps:
        if step.changed:
            found += _undeclared(step, waiting)
            found += [fault for name in waiting for fault in _unchanged(step, name)]
            waiting.clear()
        waiting += step.declared
    return found


def _undeclared(step: Step, declared: list[str]) -> Iterator[str]:
    for fixture in sorted(step.changed):
        if not any(_is_named(fixture, name) for name in declared):
            yield f"{step.commit}: {fixture} has changed, and no earlier fragment declares it"


def _unchanged(step: Step, name: str) -> Iterator[str]:
    """Of every scenario that is declared at least one fixture must have changed."""
    named = {_scenario(each) for each in step.locked if _is_named(each, name)}
    kept = named - {_scenario(each) for each in step.changed if _is_named(each, name)}
    yield from (
        f"{step.commit}: {each} is declared by `{name}`, and has not changed"
        for each in sorted(kept)
    )
    if not named:
        yield f"{step.commit}: `{name}` declares nothing that there is"


def _is_named(fixture: str, name: str) -> bool:
    """`fixture`: as LOCK says it, below its folder and with its ending."""
    own = fixture.partition("/")[2]
    return fnmatchcase(own, name) or fnmatchcase(_scenario(fixture), name)


def _scenario(fixture: str) -> str:
    return PurePosixPath(fixture.partition("/")[2]).with_suffix("").as_posix()


# ---- the history


def history(root: Path) -> list[Step]:
    """Every commit since the base that touches LOCK or a fragment, and the working tree.

    NoHistory: this is no clone, or nothing is locked yet. Of a shallow clone, what there is.
    """
    base = _base(root)
    locked = frozenset(lines_of(_git(root, "show", f"{base}:{LOCK}")))
    log = _git(
        root, "log", "--reverse", "--topo-order", "--no-merges", "--no-renames", "--no-ext-diff",
        "--no-color", "--patch", "--unified=0", "--format=%x00%h", f"{base}..HEAD", "--",
        LOCK, CHANGES,
    )  # fmt: skip
    steps = []
    for entry in log.split("\0")[1:]:
        step, locked = _step(entry, locked)
        steps.append(step)
    return [*steps, _uncommitted(root)]


def is_shallow(root: Path) -> bool:
    return _git(root, "rev-parse", "--is-shallow-repository").strip() == "true"


def _base(root: Path) -> str:
    added = _git(root, "log", "--diff-filter=A", "--format=%h", "--", LOCK).split()
    if not added:
        raise NoHistory("no commit has added LOCK: all fixtures are new")
    releases = _git(
        root, "tag", "--list", RELEASES, "--sort=-creatordate", "--merged", "HEAD",
        "--contains", added[-1],
    ).split()  # fmt: skip
    return releases[0] if releases else added[-1]


def _step(entry: str, locked: frozenset[str]) -> tuple[Step, frozenset[str]]:
    """A commit, and what is locked behind it."""
    commit, *sections = entry.strip("\n").split("\ndiff --git ")
    declared: list[str] = []
    gone, come = dict[str, str](), dict[str, str]()
    for section in sections:
        gone_lines, come_lines = _lines(section, "-"), _lines(section, "+")
        if section.startswith(f"a/{LOCK} "):
            gone, come = lines_of("\n".join(gone_lines)), lines_of("\n".join(come_lines))
        else:
            declared += _names(come_lines)
    changed = frozenset(name for name in gone if come.get(name) != gone[name])
    after = (locked - gone.keys()) | come.keys()
    return Step(commit.strip(), tuple(declared), changed, locked), after


def _lines(section: str, sign: str) -> list[str]:
    """The lines that a patch takes away, or adds."""
    header = sign * 3
    lines = section.splitlines()
    return [line[1:] for line in lines if line.startswith(sign) and not line.startswith(header)]


def _names(lines: Iterable[str]) -> list[str]:
    return [name for line in lines if line.startswith(MARK) for name in line[len(MARK) :].split()]


def _uncommitted(root: Path) -> Step:
    before = lines_of(_git(root, "show", f"HEAD:{LOCK}"))
    after = lines_of((root / LOCK).read_text(encoding="utf-8"))
    changed = frozenset(name for name in before if after.get(name) != before[name])
    return Step(WORKING_TREE, (), changed, frozenset(before))


def declarations(root: Path) -> dict[str, list[str]]:
    """The text of each fragment that declares a change of the lock, by its file's name."""
    texts = {
        path.name: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((root / CHANGES).glob("*.md"))
        if path.name != "README.md"
    }
    return {name: lines for name, lines in texts.items() if _names(lines)}


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        raise NoHistory(f"git does not answer here: {fault}") from None
    return done.stdout
