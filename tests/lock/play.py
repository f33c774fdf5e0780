"""Plays scenarios, and writes their recordings: `PYTHONPATH=tests python -m lock.play [NAME …]`.

Nothing of a script is bound to what it is played on: `bare.Bare` is the turn alone; another stage
may put the driver and real adapters behind the same stimuli.
"""

from __future__ import annotations

import re
import sys
from typing import Protocol

from lock import script
from lock.bare import Bare
from lock.script import SCENARIOS, Scenario

STIMULUS = re.compile(
    r"(?P<attempt>[12]) (?P<told>.+)|\+(?P<seconds>[\d.]+)s tick|(?P<port>[a-z]+) ?(?P<does>.*)"
)


class Stage(Protocol):
    """What a scenario is played on. It appends to `lines` whatever can be seen at a port."""

    lines: list[str]

    def upstream_tells(self, attempt: int, words: str) -> None:
        """`words`: see `said`."""

    def passes(self, seconds: float) -> None:
        """Time goes by; what is due on the way happens when it is due."""

    def does(self, port: str, what: str) -> None:
        """`begin`, `stop CODE`, or what a port does: see `bare.DOES`."""


def play(scenario: Scenario, stage: Stage) -> list[list[str]]:
    """For each stimulus, what was recorded. ValueError: a stimulus that nobody understands."""
    recording = []
    for stimulus in scenario.stimuli:
        match = STIMULUS.fullmatch(stimulus)
        if match is None:
            raise ValueError(f"no stimulus: {stimulus}")
        seen = len(stage.lines)
        if match["attempt"]:
            stage.upstream_tells(int(match["attempt"]), match["told"])
        elif match["seconds"]:
            stage.passes(float(match["seconds"]))
        else:
            stage.does(match["port"], match["does"])
        recording.append(stage.lines[seen:])
    return recording


def recorded(scenario: Scenario) -> script.Recording:
    """Played on the bare turn, as over each transport."""
    return {name: play(scenario, Bare(scenario, name)) for name in scenario.transports}


def main(names: list[str]) -> None:
    """Play the named scenarios (all, if none is named) and write what was recorded."""
    for path in sorted(SCENARIOS.rglob("*.turn")):
        if names and path.stem not in names:
            continue
        scenario = script.read(path.read_text())
        path.write_text(script.write(scenario, recorded(scenario)))


if __name__ == "__main__":
    main(sys.argv[1:])
