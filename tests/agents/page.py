"""The tables in docs/agents.md, a row for each conversation, printed by the run that held them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from agents.playing import Row
from agents.roster import versions
from clients.checking import verdicts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
BEGIN, END = "<!-- printed by `make agents` -->", "<!-- end of what is printed -->"

COLUMNS = (
    *("conversation", "first route", "sent back", "requests"),
    *("calls", "verdicts", "charge", "seen"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def tables(rows: Iterable[Row]) -> str:
    """A table for each program, under its name and the versions that are installed."""
    parts: list[str] = []
    for program, own in groupby(rows, lambda row: row.program):
        head = [f"### {program.name}", f"{versions(program)}.", "", HEAD]
        parts.append("\n".join([*head, *(line(row) for row in own)]))
    return "\n\n".join(parts)


def line(row: Row) -> str:
    """One conversation, as it was seen."""
    said = Counter(each for record in row.records for each in verdicts(record))
    first, second = row.calls
    cells = (
        row.way.told,
        row.model.first.told,
        ", ".join(sorted(row.sent)),
        str(len(row.records)),
        f"{first} + {second}",
        ", ".join(f"{count} × {verdict}" for verdict, count in said.items()),
        f"{sum(float(record['billing']['charged']) for record in row.records) * 1e6:.0f}",
        _seen(row),
    )
    return f"| {' | '.join(cells)} |"


def write(printed: str) -> None:
    """Put it in its place in the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{printed}\n{END}{after}", encoding="utf-8")


def _seen(row: Row) -> str:
    raised = row.told.raised
    seen = [f"{len(row.told.answers)} answers"] if row.told.answers else []
    return ", ".join(seen + ([f"`{raised.partition(':')[0]}`"] if raised else []))
