"""A watch of a script: played by a lab, watched by the command, and read as JSON lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import in_process
from lab.harness import running

TRANSPORTS = ("http", "ws")

WORDS = ("--model", "m", "--input", "hi")


@dataclass(frozen=True, slots=True)
class Watched:
    """`status`: the exit code. `events`: lines of events. `notes`: of remarks."""

    status: int
    events: list[dict[str, Any]]
    notes: list[str]
    end: dict[str, Any]
    said: str
    told: str
    """Standard error."""

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def fates(self) -> list[str]:
        return [event["fate"] for event in self.events]

    @property
    def timeless(self) -> list[dict[str, Any]]:
        """What an event says when nothing is said of time."""
        return [{k: v for k, v in it.items() if k not in ("at", "gap")} for it in self.events]


def watched(url: str, *words: str, said: str = "") -> Watched:
    """Watch one turn at this address."""
    done = in_process("watch", url, *(words or WORDS), "--json", said=said)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return Watched(
        status=done.returncode,
        events=[line for line in lines if "type" in line],
        notes=[line["note"] for line in lines if "note" in line],
        end=lines[-1]["end"] if lines else {},
        said=done.stdout,
        told=done.stderr,
    )


def played(script: Any, transport: str = "http", *words: str) -> Watched:
    """Watch what a lab plays: a script, as YAML gives it, or one that was loaded."""
    with running(script) as lab:
        return watched(f"{transport}://127.0.0.1:{lab.port}/v1", *WORDS, *words)


def recorded(script: Any, transport: str, file: Path) -> Watched:
    """The same, saved as a script."""
    return played(script, transport, "--raw", str(file))
