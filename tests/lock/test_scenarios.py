"""Every scenario is played and must record what its file says, to the byte (R9).

A change of behaviour is a change of these files: `make lock` writes them, a person reads what it
wrote. Tests never write.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from latchway.turn import failures
from latchway.turn.decide import Verdict
from latchway.turn.failures import Failure
from lock.play import recorded
from lock.script import SCENARIOS, Scenario, read, write

FILES = sorted(SCENARIOS.rglob("*.turn"))
AT_LEAST = 63
"""Scenarios on each transport (R9)."""

RULES = [f"R1.{n}" for n in range(1, 8)] + [f"R2.{n}" for n in range(1, 18)]
RULES += ["R3", "R4", "R5", "R6", "R10"]
"""Rules that are a turn's own; R7 to R9 are the log's, the socket's and the lock's."""


def name(path: Path) -> str:
    return path.relative_to(SCENARIOS).with_suffix("").as_posix()


def scenario(path: Path) -> Scenario:
    return read(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=name)
def test_it_records_what_the_file_says(path: Path) -> None:
    assert write(scenario(path), recorded(scenario(path))) == path.read_text()


@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_there_are_enough_on_each_transport(transport: str) -> None:
    assert sum(transport in scenario(path).transports for path in FILES) >= AT_LEAST


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_shown(rule: str) -> None:
    assert [name(path) for path in FILES if rule in scenario(path).rules]


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_shown(verdict: Verdict) -> None:
    said = re.compile(rf"attempt \d on .*, R[\d.]+ {verdict.value}$", re.MULTILINE)
    assert [name(path) for path in FILES if said.search(path.read_text())]


@pytest.mark.parametrize("row", [row for row, it in vars(failures).items() if type(it) is Failure])
def test_every_way_to_fail_is_shown(row: str) -> None:
    failure: Failure = vars(failures)[row]
    said = f", {failure.name}, "
    assert [name(path) for path in FILES if said in path.read_text()]
