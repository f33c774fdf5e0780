"""PROBE.md: where each known fault of real gateways is shown here, by the id of its case.

A scenario names its cases in its head (`probe:`); what is no turn's is in `cases.txt`: a case and
the test that shows it, or `-` and why there is none.
"""

from __future__ import annotations

from pathlib import Path

from lock import fixtures
from lock.fixtures import HERE

PAGE = HERE / "PROBE.md"
CASES = HERE / "cases.txt"

HEAD = """# Faults that real gateways had, and where they are shown

Printed by `make lock` from the heads of the scenarios and from `cases.txt`. Each id is a case of a
black-box suite that tries a running gateway from outside; it passes there, and here its cause is a
scenario of the lock or a test, so that it is seen without a network.

| case | shown by |
|---|---|
"""


def shown() -> dict[str, list[str]]:
    """By case: scenarios, and tests, or `-` and a reason. ValueError: a line is none."""
    found: dict[str, list[str]] = {}
    for name in fixtures.names():
        for case in fixtures.scenario(name).head["probe"].split():
            found.setdefault(case, []).append(name)
    for case, test in by_tests().items():
        found.setdefault(case, []).append(test)
    return found


def by_tests() -> dict[str, str]:
    """`cases.txt`."""
    found = {}
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case, test = line.split(" ", 1)
        found[case] = test
    return found


def page() -> str:
    rows = [f"| {case} | {', '.join(map(_cell, by))} |" for case, by in sorted(shown().items())]
    return HEAD + "\n".join(rows) + "\n"


def _cell(by: str) -> str:
    """A link; a reason stands as it is."""
    if by.startswith("- "):
        return by
    file, _, test = by.partition("::")
    if test:
        return f"[{test}](../{Path(file).relative_to('tests').as_posix()})"
    return f"[{file}](scenarios/{file}.turn)"
