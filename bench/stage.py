"""Where a run takes place: an upstream, a subject in front of it, and a load that has begun."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server

from bench import account
from bench.processes import Cores, running
from bench.subjects import WEBSOCKET, Place, Subject
from bench.workloads import Workload

HOME = Path(__file__).resolve().parents[1] / ".bench"
UPSTREAM, LOAD = HOME / "bin" / "upstream", HOME / "bin" / "load"

LOOPBACK = ("127.0.0.1", 0)

START_SECONDS = 90.0
"""Until a subject has served its first turn; the slowest imports for half a minute."""

PAUSE_SECONDS = 0.1
"""Between two looks whether it has begun to serve."""

PROBE_SECONDS = 40.0
"""For the turn that looks."""

PROBE_MODEL = "bench-9-0"
"""The shortest turn; no workload's, so that both can be configured."""

LAST_WORDS = 300
"""Characters of a log that are shown when something has failed."""


class Failed(Exception):
    """A run has no result; the text says why."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where the load goes; `process` is none where that is the upstream itself."""

    port: int
    key: str
    process: subprocess.Popen[str] | None = None

    @property
    def pids(self) -> list[int]:
        return account.members(self.process.pid) if self.process else []


@dataclass(frozen=True, slots=True)
class Loaded:
    """A subject under load."""

    subject: list[int]
    """Its processes."""
    others: list[int]
    """The generator's and the upstream's."""
    rest_kib: int
    """What the subject held before."""
    generator: subprocess.Popen[str]

    def counted(self) -> str:
        """What the generator says when its time is over."""
        assert self.generator.stdout is not None
        return self.generator.stdout.readline()


@dataclass(frozen=True, slots=True)
class Stage:
    """What is the same for all runs."""

    folder: Path
    cores: Cores
    seconds: float
    warm: float

    @contextmanager
    def load(self, workload: Workload, transport: str, subject: Subject) -> Iterator[Loaded]:
        """From the generator's `begin` on. Raises Failed, and Unavailable for the subject."""
        folder = self.folder / f"{workload.name}-{transport}-{subject.name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with (
            self._upstream(folder) as (upstream, port),
            self._subject(subject, Place(folder, *_free_ports(), port, workload.model)) as served,
        ):
            pids = served.pids
            rest = account.memory_kib(pids)
            command = self._generator(workload, transport, served)
            log = folder / "load.log"
            with running(command, self.cores.load, log, heard=True) as generator:
                assert generator.stdout is not None
                if generator.stdout.readline() != "begin\n":
                    raise Failed(_last_words(log))
                yield Loaded(pids, [generator.pid, upstream], rest, generator)

    @contextmanager
    def _upstream(self, folder: Path) -> Iterator[tuple[int, int]]:
        """Its process and its port."""
        log = folder / "upstream.log"
        with running([str(UPSTREAM)], self.cores.load, log, heard=True) as process:
            assert process.stdout is not None
            yield process.pid, int(process.stdout.readline())

    @contextmanager
    def _subject(self, subject: Subject, place: Place) -> Iterator[Served]:
        """It serves when it is handed over."""
        if subject.launch is None:
            yield Served(place.upstream, "key")
            return
        launch = subject.launch(place)
        log = place.folder / "subject.log"
        with running(
            launch.command,
            self.cores.subject,
            log,
            folder=place.folder,
            environment=launch.environment,
        ) as process:
            served = Served(place.port, launch.key, process)
            _await(served, log)
            yield served

    def _generator(self, workload: Workload, transport: str, served: Served) -> list[str]:
        words = {
            "-p": served.port,
            "-k": served.key,
            "-m": workload.model,
            "-c": workload.connections,
            "-t": workload.turns,
            "-r": workload.ramp_seconds,
            "-w": self.warm,
            "-s": self.seconds,
        }
        websocket = transport == WEBSOCKET and served.process is not None
        told = [str(word) for pair in words.items() for word in pair]
        return [str(LOAD), *told, *(["-W"] if websocket else [])]


def _await(served: Served, log: Path) -> None:
    """It serves when it has served a turn."""
    assert served.process is not None
    until = time.monotonic() + START_SECONDS
    one = ["-p", str(served.port), "-k", served.key, "-m", PROBE_MODEL, "-t", "1", "-s", "0"]
    while '"failed":0' not in _said([str(LOAD), *one]):
        if served.process.poll() is not None or time.monotonic() > until:
            raise Failed(f"does not serve: {_last_words(log)}")
        time.sleep(PAUSE_SECONDS)


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS)
    return done.stdout


def _last_words(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-LAST_WORDS:] or "it says nothing"


def _free_ports() -> tuple[int, int]:
    """Two ports of loopback that are free now."""
    with create_server(LOOPBACK) as one, create_server(LOOPBACK) as other:
        return one.getsockname()[1], other.getsockname()[1]
