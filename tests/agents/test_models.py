"""What is checked of a session with a real model; `make agents` holds the sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.job import Told
from agents.models import PLANS, TALK, WORK, WRITTEN, Plan, Scene
from agents.page import BEGIN, END, PAGE

FAILED = {"route": "first", "usage": None, "rule": "R2.1", "verdict": "replay"}
ANSWERED = {"route": "second", "usage": {"input_tokens": 10, "output_tokens": 5}, "verdict": None}
TURN = {
    "outcome": "completed",
    "attempts": [FAILED, ANSWERED],
    "billing": {"charged": "0.000030000"},
}
ANSWER = f"It printed {WRITTEN}."
SCENE = Scene(Plan(WORK, "503"), Told([ANSWER] * 2, 2, None), WRITTEN, (TURN,) * 4)


def test_a_session_that_is_right_has_no_differences() -> None:
    assert list(SCENE.differences) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"told": Told([ANSWER] * 2, 2, "turn.failed: it did")},
        {"told": Told([ANSWER, "It printed nothing."], 2, None)},
        {"told": Told([ANSWER], 2, None)},
        {"told": Told([ANSWER] * 2, 0, None), "records": (TURN,) * 2},
        {"copied": None},
        {"records": (TURN,) * 5},
        {"records": ({**TURN, "outcome": "failed"}, *(TURN,) * 3)},
        {"records": ({**TURN, "attempts": [ANSWERED]}, *(TURN,) * 3)},
        {"records": ({**TURN, "billing": {"charged": "0.000060000"}}, *(TURN,) * 3)},
        {"plan": Plan(WORK, "reset")},
        {"plan": Plan(WORK)},
    ],
)
def test_whatever_is_wrong_is_found(changed: dict[str, Any]) -> None:
    assert list(replace(SCENE, **changed).differences)


def test_of_a_talk_only_its_turns_are_asked() -> None:
    talk = Scene(Plan(TALK, "503"), Told(["Hello."], 0, None), None, (TURN,) * 2)
    assert list(talk.differences) == []


def test_the_page_has_a_row_for_each_session() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN.format("models"))
    rows = [line for line in rest.partition(END)[0].splitlines() if line.startswith("| ")][1:]
    wanted = [f"| {plan.task.told} | {plan.behind} |" for plan in PLANS]
    assert [row[: len(start)] for row, start in zip(rows, wanted, strict=True)] == wanted
