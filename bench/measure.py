"""One run: what the load has counted, and what the system says was used meanwhile.

The accounts are read when the generator says that it begins, and when it says what it has counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from bench import account
from bench.results import Counted, Held, Run, Used
from bench.stage import Loaded, Stage
from bench.subjects import Subject
from bench.workloads import Workload


def measured(
    stage: Stage, workload: Workload, transport: str, subject: Subject, number: int
) -> Run:
    """`number`: of the pass. Raises Failed, and Unavailable for a subject that is not here."""
    with stage.load(workload, transport, subject) as loaded:
        before = _Reading.now(loaded)
        held = account.memory_kib(loaded.subject) if workload.group == "memory" else 0
        counted = msgspec.json.decode(loaded.counted(), type=Counted)
        used = before.until(_Reading.now(loaded))
        peak = account.peak_kib(loaded.subject)
    return Run(
        number=number,
        workload=workload.name,
        transport=transport,
        subject=subject.name,
        connections=workload.connections,
        counted=counted,
        used=used,
        held=Held(loaded.rest_kib, held, peak),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """What had been used at one moment, in seconds."""

    subject: float
    load: float
    machine: account.Machine

    @classmethod
    def now(cls, loaded: Loaded) -> _Reading:
        return cls(
            account.cpu_seconds(loaded.subject),
            account.cpu_seconds(loaded.others),
            account.Machine.now(),
        )

    def until(self, later: _Reading) -> Used:
        """What was used from this moment to that one."""
        return Used(
            later.subject - self.subject,
            later.load - self.load,
            later.machine.busy - self.machine.busy,
            later.machine.stolen - self.machine.stolen,
        )
