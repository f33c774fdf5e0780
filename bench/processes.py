"""Starting and ending what is measured, and what measures: each in a session and on cores of its
own.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

END_SECONDS = 5.0
"""For a process that was told to leave; then it is ended."""

SOCKETS_WANTED = 24_000
"""Of one process: more than twice the streams of the largest workload."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Where the subject runs, and where load and upstream do; empty: wherever they like."""

    subject: str
    load: str

    @classmethod
    def shared_out(cls) -> Cores:
        """The last core is the subject's alone, so that what it shares with none is its cost."""
        mine = sorted(os.sched_getaffinity(0))
        if len(mine) < 2 or shutil.which("taskset") is None:
            return cls("", "")
        return cls(str(mine[-1]), ",".join(map(str, mine[:-1])))


@contextmanager
def running(
    command: Sequence[str],
    cores: str,
    log: Path,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    heard: bool = False,
) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended on the way out, with all that it has started.

    `heard`: what it says on standard output is for the caller; else that goes to the log, too.
    """
    pinned = ["taskset", "--cpu-list", cores, *command] if cores else list(command)
    with log.open("w") as file:
        process = subprocess.Popen(
            pinned,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if heard else file,
            stderr=file,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """First as an operator would; then the whole session, which may have outlived its leader."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def allow_sockets() -> int:
    """As many open files as may be had, for this process and all that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (SOCKETS_WANTED, hard):
        try:
            resource.setrlimit(
                resource.RLIMIT_NOFILE,
                (limit, hard if hard == resource.RLIM_INFINITY else max(limit, hard)),
            )
        except (ValueError, PermissionError):
            continue
        return limit
    return soft
