"""One conversation: what a program is told, and what it makes of it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"

SECONDS = 300.0
"""Of one conversation with a scripted model; it takes three, on a busy machine a minute."""


@dataclass(frozen=True, slots=True)
class Job:
    """`url` ends in /v1; `headers` are for the first question's turns alone."""

    url: str
    key: str
    model: str
    way: str
    headers: dict[str, str]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """`tools`: how often the program's tool ran. `raised`: class and message of its exception."""

    answers: list[str]
    tools: int
    raised: str | None


def told_by(command: list[str], job: Job, folder: Path) -> Told:
    """Run a program that takes the job as its last argument and prints what it makes of it."""
    done = subprocess.run(
        [*command, json.dumps(asdict(job))],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return Told(**json.loads(done.stdout.splitlines()[-1]))
