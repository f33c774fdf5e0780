"""Which modules are compiled: what pyproject.toml says of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from repo.tree import ROOT, text_of

SOURCES = ROOT / "src"


def compiled_files() -> list[Path]:
    """Their source files, in the order of the list."""
    project: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    return [SOURCES / name for name in hook["modules"]]


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCES).with_suffix("").parts)
