"""`make agents`: every agent, in every way it can keep a conversation, against every failure.

A line tells of each program, with the reason if it was not tried; 1 if anything is not as it should
be. Where all was tried and is right, the tables of docs/agents.md are written anew.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from agents import page
from agents.checking import differences
from agents.models import PLANS, Plan, Scene, play_scene
from agents.playing import Row, play, with_records
from agents.roster import AGENTS, Program
from agents.stage import Stage, set_up
from clients.environments import Unavailable


def main() -> int:
    """All of it."""
    wrong = [*scripted(), *real()]
    for line in wrong:
        print(f"NOT AS IT SHOULD BE: {line}")
    print("all is as it should be" if not wrong else f"{len(wrong)} differences")
    return 1 if wrong else 0


def scripted() -> list[str]:
    """Every agent with the scripted model; what is not as it should be."""
    with tempfile.TemporaryDirectory() as folder, set_up(Path(folder)) as stage:
        tried = [rows for program in AGENTS if (rows := conversations(stage, program))]
        rows, wrong = found(stage, [row for each in tried for row in each])
    if not wrong and len(tried) == len(AGENTS):
        page.write("conversations", page.tables(rows))
    return wrong


def real() -> list[str]:
    """Codex with a real model; what is not as it should be."""
    played = [scene for plan in PLANS if (scene := real_model(plan))]
    wrong = [line for scene in played for line in scene.differences]
    if not wrong and len(played) == len(PLANS):
        page.write("models", page.scenes(played))
    return wrong


def found(stage: Stage, played: list[Row]) -> tuple[list[Row], list[str]]:
    """The whole rows, and what is not as it should be.

    Stops the gateway: its books are read when all is written.
    """
    assert stage.gateway.stop() == 0, "".join(stage.gateway.said)
    stage.gateway.verify()
    rows, ledger = with_records(stage, played), stage.gateway.charges()
    return rows, [line for row in rows for line in differences(row, ledger)]


def conversations(stage: Stage, program: Program) -> list[Row]:
    """All that this program is tried with."""
    try:
        rows = [play(stage, program, way, model) for way in program.ways for model in way.models]
    except Unavailable as reason:
        print(f"{program.name}: not tried: {reason}", flush=True)
        return []
    print(f"{program.name}: {len(rows)} conversations", flush=True)
    return rows


def real_model(plan: Plan) -> Scene | None:
    """Codex with llama.cpp."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            scene = play_scene(Path(folder), plan)
    except Unavailable as reason:
        print(f"{plan}: not tried: {reason}", flush=True)
        return None
    print(f"{plan}: {len(scene.records)} turns", flush=True)
    return scene


if __name__ == "__main__":
    sys.exit(main())
