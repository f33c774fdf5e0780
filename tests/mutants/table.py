"""The table of mutants: each breaks one rule on purpose, and says who must notice."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/latchway"
TABLE = Path(__file__).with_name("mutants.toml")


@dataclass(frozen=True)
class Mutant:
    """One deliberate breakage. `rule`: the row of the rule, or the law, that it breaks.

    `file`: below `src/latchway`. `text` stands in it once, `becomes` in its place. Every one of
    `scenarios` must record something else than its file says. `tests`: what no scenario can see,
    for it takes more than one turn, or more than one owner; every one of these must fail.
    """

    id: str
    rule: str
    file: str
    text: str
    becomes: str
    scenarios: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """From the repository's root."""
        return f"{PACKAGE}/{self.file}"

    def apply(self, source: str) -> str:
        """The broken source. ValueError: the text is not there, or is there more than once."""
        found = source.count(self.text)
        if found != 1:
            raise ValueError(
                f"mutant {self.id}: its text stands {found} times in {self.path}, not once; "
                "write it as the file has it now, or long enough to be the only one"
            )
        return source.replace(self.text, self.becomes)


def changed(source: str, mutant: Mutant) -> tuple[int, int]:
    """The characters of `source` that the mutant changes or takes away: first, and behind the last.

    What is only put in between changes the character before it.
    """
    start = source.index(mutant.text)
    same = _alike(mutant.text, mutant.becomes)
    kept = _alike(mutant.text[same:][::-1], mutant.becomes[same:][::-1])
    first, last = start + same, start + len(mutant.text) - kept
    return (first, last) if first < last else (first - 1, first)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def read(path: Path = TABLE) -> list[Mutant]:
    """All mutants, in the table's order. A field that is missing or unknown: TypeError."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{name: _frozen(said) for name, said in row.items()}) for row in rows]


def _frozen(said: Any) -> Any:
    return tuple(said) if isinstance(said, list) else said
