"""The walk through the history, on small ones that are made here, and on our own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from lock.declared import LOCK, NoHistory, declarations, faults, history, is_shallow
from repo.tree import ROOT

RULE = re.compile(r"R\d+(\.\d+)?: .")

Files = dict[str, str]

LOCKED = {"scenarios/hold/a.turn": "1", "wire/hold/a.sse": "1", "scenarios/second/b.turn": "1"}
BASE = {LOCK: "".join(f"{digest}  {name}\n" for name, digest in LOCKED.items())}
A_CHANGED = {LOCK: BASE[LOCK].replace("1  scenarios/hold/a", "2  scenarios/hold/a")}
A_SOUNDS_OTHER = {LOCK: BASE[LOCK].replace("1  wire/hold/a", "2  wire/hold/a")}
A_REMOVED = {LOCK: BASE[LOCK].replace("1  scenarios/hold/a.turn\n", "")}
B_CHANGED = {LOCK: BASE[LOCK].replace("1  scenarios/second", "2  scenarios/second")}
NEW = {LOCK: BASE[LOCK] + "1  scenarios/whole/c.turn\n"}


def fragment(names: str, file: str = "hold") -> Files:
    return {f"changes/{file}.md": f"R4: it is held for nine seconds.\n\nlock: {names}\n"}


class Repository:
    """A history of LOCK and fragments."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet")

    def commit(self, files: Files, *tags: str) -> None:
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=.")
        for tag in tags:
            self.git("tag", tag)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(self, *words: str) -> None:
        who = {
            f"GIT_{who}_{what}": "x"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        env = {**os.environ, **who, **nobody}
        subprocess.run(["git", *words], cwd=self.root, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.parametrize(
    ("commits", "fault"),
    [
        ([fragment("hold/a"), A_CHANGED], None),
        ([fragment("hold/*"), A_CHANGED], None),
        ([fragment("hold/a.turn"), A_CHANGED], None),
        ([fragment("hold/a.sse"), A_SOUNDS_OTHER], None),
        ([fragment("hold/a"), A_REMOVED], None),
        ([NEW], None),
        ([fragment("hold/a")], None),
        ([fragment("hold/a"), NEW], None),
        ([A_CHANGED], "scenarios/hold/a.turn has changed"),
        ([A_REMOVED], "scenarios/hold/a.turn has changed"),
        ([fragment("hold/a") | A_CHANGED], "scenarios/hold/a.turn has changed"),
        ([A_CHANGED, fragment("hold/a")], "scenarios/hold/a.turn has changed"),
        ([fragment("second/b"), A_CHANGED], "scenarios/hold/a.turn has changed"),
        ([fragment("hold/a.sse"), A_CHANGED], "scenarios/hold/a.turn has changed"),
        ([fragment("hold/a second/b"), A_CHANGED], "second/b is declared"),
        ([fragment("*"), A_CHANGED], "second/b is declared"),
        ([fragment("hold/c hold/a"), A_CHANGED], "`hold/c` declares nothing"),
        ([fragment("hold/a"), A_CHANGED, BASE], "scenarios/hold/a.turn has changed"),
        ([fragment("hold/a"), A_CHANGED, fragment("hold/a", "again"), BASE], None),
    ],
)
def test_a_change_is_declared_in_an_earlier_commit(
    repository: Repository, commits: list[Files], fault: str | None
) -> None:
    repository.commit(BASE)
    for files in commits:
        repository.commit(files)
    found = faults(history(repository.root))
    assert bool(found) is (fault is not None), found
    assert fault is None or any(fault in each for each in found)


def test_what_is_not_committed_must_have_been_declared(repository: Repository) -> None:
    repository.commit(BASE)
    repository.write(LOCK, A_CHANGED[LOCK])
    assert "not committed" in faults(history(repository.root))[0]
    repository.write(LOCK, BASE[LOCK])
    repository.commit(fragment("hold/a"))
    repository.write(LOCK, A_CHANGED[LOCK])
    assert faults(history(repository.root)) == []
    repository.write(LOCK, B_CHANGED[LOCK])
    assert len(faults(history(repository.root))) == 2


def test_a_release_begins_anew(repository: Repository) -> None:
    repository.commit(BASE)
    repository.commit(A_CHANGED, "v0.2.0")
    assert faults(history(repository.root)) == []


def test_before_the_first_lock_all_is_new(repository: Repository) -> None:
    repository.commit({"README.md": "Nothing is locked.\n"})
    with pytest.raises(NoHistory, match="all fixtures are new"):
        history(repository.root)


def test_a_folder_that_is_no_clone_has_no_history(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="git does not answer"):
        history(tmp_path)


def test_a_shallow_clone_is_compared_with_what_it_has(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository.commit(BASE)
    repository.commit(A_CHANGED)
    clone = tmp_path_factory.mktemp("shallow")
    repository.git("clone", "--quiet", "--depth=1", repository.root.as_uri(), str(clone))
    assert is_shallow(clone)
    assert faults(history(clone)) == []
    (clone / LOCK).write_text(BASE[LOCK], encoding="utf-8")
    assert len(faults(history(clone))) == 1


def test_our_own_history_declares_its_changes() -> None:
    try:
        steps = history(ROOT)
    except NoHistory as fault:
        pytest.skip(f"the history is not looked at: {fault}")
    assert faults(steps) == []
    if is_shallow(ROOT):
        pytest.skip(f"a shallow clone: of the history only {len(steps)} steps were looked at")


def test_a_declaration_names_its_rule_and_says_why() -> None:
    """`R2.6: …` at its head: the row, and the reason in a sentence."""
    without = [name for name, text in declarations(ROOT).items() if not RULE.match(text[0])]
    assert without == []
