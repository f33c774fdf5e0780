"""The tables in docs/agents.md, a row for each conversation, printed by the run that held them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from agents.models import Scene
from agents.playing import Record, Row
from clients.checking import verdicts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
BEGIN, END = "<!-- {}: printed by `make agents` -->", "<!-- end -->"

COLUMNS = (
    *("conversation", "first route", "sent back", "requests"),
    *("calls", "verdicts", "charge", "seen"),
)
SCENE_COLUMNS = (
    *("asked", "first route, second route", "commands", "requests"),
    *("verdicts", "tokens in, out", "charge", "seen"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def tables(rows: Iterable[Row]) -> str:
    """A table for each program, under its name and the versions that are installed."""
    parts: list[str] = []
    for program, own in groupby(rows, lambda row: row.program):
        installed = ", ".join(" ".join(each) for each in program.versions().items())
        head = [f"### {program.name}", "", f"{installed}.", "", HEAD]
        parts.append("\n".join([*head, *(line(row) for row in own)]))
    return "\n\n".join(parts)


def line(row: Row) -> str:
    """One conversation, as it was seen."""
    first, second = row.calls
    cells = (
        row.way.told,
        row.model.first.told,
        ", ".join(sorted(row.sent)),
        str(len(row.records)),
        f"{first} + {second}",
        _verdicts(row.records),
        _charge(row.records),
        _seen(row),
    )
    return f"| {' | '.join(cells)} |"


def scenes(played: Iterable[Scene]) -> str:
    """A table of the sessions with a real model."""
    head = [f"| {' | '.join(SCENE_COLUMNS)} |", f"|{'---|' * len(SCENE_COLUMNS)}"]
    return "\n".join([*head, *(scene_line(scene) for scene in played)])


def scene_line(scene: Scene) -> str:
    last = [record["attempts"][-1]["usage"] for record in scene.records]
    tokens = [f"{usage['input_tokens']}, {usage['output_tokens']}" for usage in last]
    cells = (
        scene.plan.task.told,
        scene.plan.behind,
        str(scene.told.tools),
        str(len(scene.records)),
        _verdicts(scene.records),
        "; ".join(tokens),
        _charge(scene.records),
        f"{len(scene.told.answers)} answers",
    )
    return f"| {' | '.join(cells)} |"


def write(name: str, printed: str) -> None:
    """Put a part in its place in the page."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN.format(name))
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{begin}\n{printed}\n{END}{after}", encoding="utf-8")


def _verdicts(records: Iterable[Record]) -> str:
    said = Counter(each for record in records for each in verdicts(record))
    return ", ".join(f"{count} × {verdict}" for verdict, count in said.items())


def _charge(records: Iterable[Record]) -> str:
    """In millionths of a USD."""
    return f"{sum(float(record['billing']['charged']) for record in records) * 1e6:.0f}"


def _seen(row: Row) -> str:
    raised = row.told.raised
    seen = [f"{len(row.told.answers)} answers"] if row.told.answers else []
    return ", ".join(seen + ([f"`{raised.partition(':')[0]}`"] if raised else []))
