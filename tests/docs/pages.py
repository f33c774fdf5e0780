"""The pages that people read, as the tests see them: their blocks of code, and what marks them.

A block is run, or checked, by its language. A comment on the line before it says what differs:

    <!-- not run: WHY -->        only its syntax is checked, if it has one
    <!-- run with: PACKAGES -->  it is a program for itself, run where those are installed
    <!-- file: NAME -->          it is the file of that name, in the folder of the page's session
    <!-- first route: SCRIPT --> the first route's upstream plays this script of the lab's
    <!-- prints: … for X -->     each of its lines is printed in the session, with any X for each …
    <!-- prints alike: … -->     the same, and other figures may stand where it has figures
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from repo.tree import ROOT, name_of, text_of

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|run with|file|first route|prints(?: alike)?): "
    r"(?P<value>[^\n]+) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `mark`, `value`: of the comment before it, empty without one."""

    page: Path
    line: int
    language: str
    text: str
    mark: str
    value: str

    def __str__(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def pages() -> list[Path]:
    """README.md and all that is under docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    text = text_of(page)
    return [
        Block(
            page,
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            found["text"],
            found["mark"] or "",
            found["value"] or "",
        )
        for found in FENCE.finditer(text)
    ]


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]
