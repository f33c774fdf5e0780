"""What is wrong with a configuration file, told by file, line and path with its mend.

A message never holds a value that was read: it may be a credential, or come from the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Where = tuple[str | int, ...]
"""A value's place in the file: names of fields, and positions in lists."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to mend; with severity `advice`, one to think about: the file can be used."""

    file: str
    line: int
    """Counted from 1. For what is missing, the line of what it is missing from."""
    path: str
    message: str
    severity: str = "fault"

    def __str__(self) -> str:
        said = f"{self.path}: {self.message}" if self.path else self.message
        mark = "advice: " if self.severity == "advice" else ""
        return f"{self.file}:{self.line}: {mark}{said}"


class ConfigError(Exception):
    """The configuration cannot be used: the operator's fault. Its text has a line for each."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class Report:
    """What was found in one file while it is read: faults, advice, and the line of each value."""

    def __init__(self, file: str, environ: Mapping[str, str]) -> None:
        self.file, self.environ = file, environ
        self.lines: dict[Where, int] = {(): 1}
        self.literal_secrets: list[Where] = []
        """Credentials that stand in the file itself."""
        self.open_to_others = False
        """Can the file be read by more than its owner?"""
        self._found: list[Fault] = []

    def said(self, where: Where) -> bool:
        """Does the file say something there?"""
        return where in self.lines

    def fault(self, where: Where, message: str, line: int | None = None) -> None:
        self._add(where, message, "fault", line)

    def advise(self, where: Where, message: str) -> None:
        self._add(where, message, "advice", None)

    @property
    def found(self) -> list[Fault]:
        """All of it, in the file's order."""
        return sorted(self._found, key=lambda fault: fault.line)

    @property
    def faults(self) -> list[Fault]:
        return [fault for fault in self.found if fault.severity == "fault"]

    def _add(self, where: Where, message: str, severity: str, line: int | None) -> None:
        line = self._nearest_line(where) if line is None else line
        self._found.append(Fault(self.file, line, path_text(where), message, severity))

    def _nearest_line(self, where: Where) -> int:
        while where not in self.lines:
            where = where[:-1]
        return self.lines[where]


def path_text(where: Where) -> str:
    """`models.m.routes[0].provider`"""
    text = ""
    for step in where:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if step.isprintable() else ascii(step)
            text += f".{name}" if text else name
    return text
