"""What the operating system says that processes have used: CPU and memory, from /proc.

A subject is all processes of one session, since gateways start workers. CPU comes in ticks of
10 ms as a rule, which over some seconds is well below the noise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")

SESSION, USER, SYSTEM = 3, 11, 12
"""Fields of /proc/PID/stat, counted behind the command's name, which may hold anything."""

IDLE, WAITING, STOLEN = 3, 4, 7
"""Columns of the first line of /proc/stat: doing nothing, waiting for a disk, taken by the host."""


def members(session: int) -> list[int]:
    """The processes of a session that are still there."""
    pids = (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    return [pid for pid in pids if (fields := _stat(pid)) and int(fields[SESSION]) == session]


def cpu_seconds(pids: list[int]) -> float:
    """User and system time that these have used since they began."""
    return sum(_seconds(_stat(pid)) for pid in pids)


def thread_seconds(pid: int) -> dict[int, float]:
    """What each thread of a process has used since it began."""
    threads = list((PROC / str(pid) / "task").iterdir())
    return {int(thread.name): _seconds(_fields(thread / "stat")) for thread in threads}


def _seconds(fields: list[str]) -> float:
    return (int(fields[USER]) + int(fields[SYSTEM])) * TICK_SECONDS if fields else 0.0


def _stat(pid: int) -> list[str]:
    """Of a process; nothing, when it has ended."""
    return _fields(PROC / str(pid) / "stat")


def _fields(stat: Path) -> list[str]:
    try:
        text = stat.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def memory_kib(pids: list[int]) -> int:
    """What these hold, with what they share divided among those who share it (PSS)."""
    return sum(_sized(pid, "smaps_rollup", "Pss:") for pid in pids)


def peak_kib(pids: list[int]) -> int:
    """The most that these have held since they began."""
    return sum(_sized(pid, "status", "VmHWM:") for pid in pids)


def _sized(pid: int, file: str, field: str) -> int:
    lines = (PROC / str(pid) / file).read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


@dataclass(frozen=True, slots=True)
class Machine:
    """What all processors have done since the machine began, in seconds."""

    busy: float
    stolen: float

    @classmethod
    def now(cls) -> Machine:
        return cls.read((PROC / "stat").read_text())

    @classmethod
    def read(cls, stat: str) -> Machine:
        """`stat`: the text of /proc/stat. Guests' time is in the user's already."""
        columns = [int(word) * TICK_SECONDS for word in stat.split("\n", 1)[0].split()[1:9]]
        return cls(sum(columns) - columns[IDLE] - columns[WAITING], columns[STOLEN])
