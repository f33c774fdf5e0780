"""Reads `latchway.yaml`: to Settings, or to every fault that stands in it.

`schema.py` has all fields in tables; `rules.py` what they must be to each other. A value is never
shown in a message, for any of them may be a credential.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from latchway.config import build, rules
from latchway.config.faults import ConfigError, Fault, Report
from latchway.config.reference import reference
from latchway.config.rules import Values
from latchway.config.schema import FILE_SCHEMA
from latchway.config.source import read_tree
from latchway.settings import Settings

__all__ = ["ConfigError", "Fault", "check", "load", "reference"]


def load(path: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings that the file gives. ConfigError: it has faults; all of them."""
    report, values = _examine(path, environ)
    if report.faults:
        raise ConfigError(report.faults)
    return build.settings(values, path.absolute().parent)


def check(path: Path, environ: Mapping[str, str] = os.environ) -> list[Fault]:
    """Every fault of the file and all advice, in the file's order; an unreadable file is one."""
    return _examine(path, environ)[0].found


def _examine(path: Path, environ: Mapping[str, str]) -> tuple[Report, Values]:
    report = Report(str(path), environ)
    root = read_tree(path, report)
    if root is None:
        return report, {}
    values = FILE_SCHEMA.read(root, (), report)
    rules.apply(values, path.absolute().parent, report)
    return report, values
