"""What is installed is locked, and the wheel holds the source and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from repo.tree import ROOT, SOURCE, text_of

PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))
RUNTIME = PROJECT["project"]["dependencies"]
DEVELOPMENT = PROJECT["dependency-groups"]["dev"]
MOST_DEPENDENCIES = 6
"""Each one is trusted with the operator's keys."""


def canonical(requirement: str) -> str:
    """The name in a requirement, as package indexes compare names."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def locked(lock: str) -> dict[str, str]:
    """Name to block of lines, of a lock file."""
    blocks = re.split(r"\n(?=[a-z0-9])", text_of(ROOT / lock))
    return {canonical(block): block for block in blocks if block.strip()}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [("requirements.lock", RUNTIME), ("requirements-dev.lock", RUNTIME + DEVELOPMENT)],
)
def test_every_dependency_is_locked(lock: str, wanted: list[str]) -> None:
    assert {canonical(requirement) for requirement in wanted} <= set(locked(lock))


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_one_version_and_hashes(lock: str) -> None:
    loose = [
        name
        for name, block in locked(lock).items()
        if "==" not in block.splitlines()[0] or "--hash=sha256:" not in block
    ]
    assert loose == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_names_no_address(lock: str) -> None:
    assert "://" not in text_of(ROOT / lock)


def test_both_locks_agree() -> None:
    runtime, development = locked("requirements.lock"), locked("requirements-dev.lock")
    first_lines = {
        name: (block.splitlines()[0], development[name].splitlines()[0])
        for name, block in runtime.items()
    }
    assert [name for name, (one, other) in first_lines.items() if one != other] == []


def test_the_dependencies_stay_few() -> None:
    assert len(RUNTIME) <= MOST_DEPENDENCIES


def test_the_wheel_is_the_source_tree(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    source = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == source
    assert not [name for name in names if name.endswith(".pth")]
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
