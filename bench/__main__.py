"""`make bench`: every subject under every workload, so many passes; a table, and lines of JSON.

A pass runs all subjects one after the other, so that what they are compared with was measured in
the same minute. What cannot be run is named, with the reason, and the rest goes on.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

from bench.disk import sync_ms
from bench.measure import measured
from bench.processes import Cores, allow_sockets
from bench.results import line
from bench.stage import HOME, LOAD, Failed, Stage
from bench.subjects import SUBJECTS, TRANSPORTS, chosen_subjects, transports
from bench.table import Block, block
from bench.workloads import SECONDS_MOST, Unknown, Workload, chosen
from clients.environments import Unavailable

RESULTS = HOME / "results"

DEFAULT_WORKLOADS = "short bulk paced memory growth"

RUNS = 5
SECONDS = 5.0
WARM_SECONDS = 1.0


def main() -> int:
    options = _options()
    if not LOAD.exists():
        print("bench: the load generator is not built; say `make bench`", file=sys.stderr)
        return 2
    cores, sockets = Cores.shared_out(), allow_sockets()
    options.folder.mkdir(parents=True, exist_ok=True)
    _say_where(options, cores)
    stage = Stage(options.folder.resolve(), cores, options.seconds, options.warm)
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / time.strftime("%Y%m%d-%H%M%S.jsonl")
    for workload in options.workloads:
        if workload.sockets > sockets:
            print(f"\n{workload.name}: left out, only {sockets} sockets may be open here")
            continue
        for transport in options.transports:
            _compare(stage, workload, transport, options, file)
    print(f"\nevery run: {file}")
    return 0


def _compare(
    stage: Stage,
    workload: Workload,
    transport: str,
    options: argparse.Namespace,
    file: Path,
) -> None:
    """All passes of one workload over one transport, and what they say together."""
    runs: Block = {}
    failures: dict[str, None] = {}
    for number in range(1, options.runs + 1):
        for subject in options.subjects:
            if transport not in subject.transports:
                continue
            try:
                run = measured(stage, workload, transport, subject, number)
            except (Failed, Unavailable) as reason:
                failures[f"{subject.name}: no result: {reason}"] = None
                continue
            if run.counted.failed:
                failures[f"{subject.name}: connections failed, see {file.name}"] = None
            runs.setdefault(subject.name, []).append(run)
            with file.open("ab") as lines:
                lines.write(line(run))
    print(block(workload, transport, runs, list(failures)), flush=True)


def _say_where(options: argparse.Namespace, cores: Cores) -> None:
    """On which machine, and how: no figure means anything without it."""
    pinned = (
        f"the subject on core {cores.subject}, load and upstream on {cores.load}"
        if cores.subject
        else "nothing is pinned: fewer than two cores, or no taskset"
    )
    load = ", ".join(f"{share:.1f}" for share in os.getloadavg())
    print(
        f"bench: {platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load {load}; {pinned}\n"
        f"bench: {options.runs} runs each: {options.warm:g} s of warm-up, {options.seconds:g} s "
        "measured; the median, ± the whole spread\n"
        f"bench: databases in {options.folder}, where a durable write takes "
        f"{sync_ms(options.folder):.2f} ms\n"
        "bench: others: CPU used by nobody of the benchmark, per cent of a core; above 5 on any "
        "row, no figure of it means much",
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="passes; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="measured in each run")
    parser.add_argument("--warm", type=float, default=WARM_SECONDS, help="seconds before that")
    parser.add_argument("--workloads", default=DEFAULT_WORKLOADS, help="names or groups")
    parser.add_argument("--subjects", default=" ".join(each.name for each in SUBJECTS))
    parser.add_argument("--folder", type=Path, default=HOME / "runs", help="of the databases")
    parser.add_argument("--transports", default=" ".join(TRANSPORTS))
    options = parser.parse_args()
    try:
        options.workloads = list(chosen(options.workloads.split()))
        options.subjects = chosen_subjects(options.subjects.split())
        options.transports = transports(options.transports.split())
    except Unknown as fault:
        parser.error(str(fault))
    longest = max(each.ramp_seconds for each in options.workloads)
    if longest + options.warm + options.seconds > SECONDS_MOST:
        parser.error(f"a run may take {SECONDS_MOST:g} s with its ramp of {longest:g} s")
    return options


if __name__ == "__main__":
    sys.exit(main())
