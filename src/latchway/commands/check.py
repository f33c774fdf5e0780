"""Validate a configuration: every fault, and advice, with file, line, path and mend.

Exit code 1 if there is a fault; advice alone is no fault.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from latchway.commands.common import add_config, add_json, config_path, print_json

if TYPE_CHECKING:
    from latchway.config import Fault

EXAMPLE = "latchway check --config latchway.yaml"


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 if one of them is a fault."""
    from latchway.config import check

    path = config_path(args.config)
    findings = check(path)
    faults = [finding for finding in findings if finding.severity == "fault"]
    if args.json:
        print_json([_as_dict(finding) for finding in findings])
    else:
        for finding in findings:
            print(finding)
    print(_summary(str(path), len(faults), len(findings) - len(faults)), file=sys.stderr)
    return 1 if faults else 0


def _as_dict(finding: Fault) -> dict[str, object]:
    return {
        "severity": finding.severity,
        "file": str(finding.file),
        "line": finding.line,
        "path": finding.path,
        "message": finding.message,
    }


def _summary(path: str, faults: int, advice: int) -> str:
    if faults:
        return f"{path}: {faults} {'fault' if faults == 1 else 'faults'}"
    return f"{path}: good" + (f", with {advice} of advice" if advice else "")
