"""One run: an upstream, a subject, a load; what the load has counted, and what the system has.

The accounts are read when the generator says that it begins, and when it says what it has counted.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server

import msgspec

from bench import account
from bench.processes import Cores, running
from bench.results import Counted, Held, Run, Used
from bench.subjects import WEBSOCKET, Place, Subject
from bench.workloads import Workload

PROGRAMS = Path(__file__).resolve().parents[1] / ".bench" / "bin"

START_SECONDS = 90.0
"""Until a subject has served its first turn; the slowest imports for half a minute."""

PAUSE_SECONDS = 0.1
"""Between two looks whether it has begun to serve."""

TURN_SECONDS = 40.0
"""For a turn that asks whether a subject serves."""

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
    folder: Path
    process: subprocess.Popen[str] | None

    @property
    def pids(self) -> list[int]:
        return account.members(self.process.pid) if self.process else []


@dataclass(frozen=True, slots=True)
class Reading:
    """What had been used at one moment, in seconds."""

    subject: float
    load: float
    machine: account.Machine

    @classmethod
    def now(cls, subject: list[int], load: list[int]) -> Reading:
        return cls(account.cpu_seconds(subject), account.cpu_seconds(load), account.Machine.now())

    def until(self, later: Reading) -> Used:
        """What was used from this moment to that one."""
        return Used(
            later.subject - self.subject,
            later.load - self.load,
            later.machine.busy - self.machine.busy,
            later.machine.stolen - self.machine.stolen,
        )


@dataclass(frozen=True, slots=True)
class Bench:
    """What is the same for all runs."""

    folder: Path
    cores: Cores
    seconds: float
    warm: float

    def run(self, workload: Workload, transport: str, subject: Subject, number: int) -> Run:
        """`number`: of the pass.

        Raises Failed, and Unavailable for a subject that is not to be had.
        """
        folder = self.folder / f"{workload.name}-{transport}-{subject.name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with self._upstream(folder) as (upstream, port):
            place = Place(folder, _free_port(), port, workload.model)
            with self._subject(subject, place) as served:
                counted, used, held = self._measured(workload, transport, served, upstream)
        return Run(
            number,
            workload.name,
            transport,
            subject.name,
            workload.connections,
            counted,
            used,
            held,
        )

    @contextmanager
    def _upstream(self, folder: Path) -> Iterator[tuple[int, int]]:
        """Its process and its port."""
        command = [str(PROGRAMS / "upstream")]
        with running(command, self.cores.load, folder / "upstream.log", heard=True) as process:
            assert process.stdout is not None
            yield process.pid, int(process.stdout.readline())

    @contextmanager
    def _subject(self, subject: Subject, place: Place) -> Iterator[Served]:
        """It serves when it is handed over."""
        if subject.launch is None:
            yield Served(place.upstream, "key", place.folder, None)
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
            served = Served(place.port, launch.key, place.folder, process)
            _await(served, log)
            yield served

    def _measured(
        self, workload: Workload, transport: str, served: Served, upstream: int
    ) -> tuple[Counted, Used, Held]:
        pids, log = served.pids, served.folder / "load.log"
        rest, held = account.memory_kib(pids), 0
        command = self._load(workload, transport, served)
        with running(command, self.cores.load, log, heard=True) as load:
            assert load.stdout is not None
            if load.stdout.readline() != "begin\n":
                raise Failed(_last_words(log))
            before = Reading.now(pids, [load.pid, upstream])
            if workload.group == "memory":
                held = account.memory_kib(pids)
            counted = msgspec.json.decode(load.stdout.readline(), type=Counted)
            used = before.until(Reading.now(pids, [load.pid, upstream]))
        return counted, used, Held(rest, held, account.peak_kib(pids))

    def _load(self, workload: Workload, transport: str, served: Served) -> list[str]:
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
        return [str(PROGRAMS / "load"), *told, *(["-W"] if websocket else [])]


def _await(served: Served, log: Path) -> None:
    """It serves when it has served a turn."""
    assert served.process is not None
    until = time.monotonic() + START_SECONDS
    one = ["-p", str(served.port), "-k", served.key, "-m", PROBE_MODEL, "-t", "1", "-s", "0"]
    while '"failed":0' not in _said([str(PROGRAMS / "load"), *one]):
        if served.process.poll() is not None or time.monotonic() > until:
            raise Failed(f"does not serve: {_last_words(log)}")
        time.sleep(PAUSE_SECONDS)


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TURN_SECONDS)
    return done.stdout


def _last_words(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-LAST_WORDS:] or "it says nothing"


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
