"""The repository as its own tests see it: which files there are, and their syntax trees."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "latchway"
CLIENT = ROOT / "client" / "src" / "latchway_client"
TESTS = ROOT / "tests"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def name_of(path: Path) -> str:
    """The path as it is written in the lists of exceptions: from the repository's root."""
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path), str(path))


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def imports(path: Path) -> Iterator[str]:
    """Every module that the file imports, by its whole name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every text file that git knows of and that is still there."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = (ROOT / name for name in listing.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file() and _is_text(path))


def _is_text(path: Path) -> bool:
    data = path.read_bytes()
    return b"\0" not in data[:4096] and data == data.decode(errors="ignore").encode()
