"""`make profile`: where a turn's time goes, function by function, under a workload of the bench.

py-spy looks at the gateway's stacks from outside, without stopping it. A sample counts for the
innermost Python function: what C code takes is its caller's, and so `Runner.run` is the event loop
itself, its system calls and its waiting. A thread that waits for a disk looks like one that works,
so each thread stands for itself, beside the CPU that it has really used.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import account
from bench.processes import Cores, allow_sockets
from bench.stage import HOME, Failed, Loaded, Stage
from bench.subjects import HTTP, PEERS, SUBJECTS, WEBSOCKET
from bench.workloads import Unknown, chosen
from clients.environments import Unavailable, python

SECONDS = 6
MARGIN_SECONDS = 2
"""More of load than of looking: py-spy takes a moment to begin."""

SAMPLES_PER_SECOND = 400
"""A look takes it about a millisecond."""

LEAST_OF_ALL = 0.02
"""A thread with a smaller share of the samples did nothing."""

LEAST_OF_THREAD = 0.005
"""Functions and modules with a smaller share of a thread's samples are not shown."""

SAMPLE = re.compile(
    r"thread \((?P<id>\d+)\): (?P<name>[^;]*);(?:.*;)?(?P<frame>[^;]+) (?P<count>\d+)$"
)
FRAME = re.compile(r"(?P<function>.*) \((?P<module>.*):\d+\)")

Thread = tuple[int, str]
Samples = dict[Thread, Counter[tuple[str, str]]]
"""Of each thread: how often which function of which module was the innermost."""


def main() -> int:
    options = _options()
    allow_sockets()
    stage = Stage(HOME / "profile", Cores.shared_out(), SECONDS + MARGIN_SECONDS, warm=1.0)
    try:
        spy = Path(python("py-spy", PEERS)).with_name("py-spy")
        for workload in chosen(options.workloads.split()):
            print(f"\n{workload.name} over {options.transport}")
            with stage.load(workload, options.transport, SUBJECTS[0]) as loaded:
                _show(loaded, spy, stage.folder / f"{workload.name}.txt")
                print(f"\nthe load: {loaded.counted()}", end="")
    except (Failed, Unavailable, Unknown) as reason:
        print(f"profile: no result: {reason}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="profile", description=__doc__)
    parser.add_argument("--workloads", default="short bulk paced-200", help="names or groups")
    parser.add_argument("--transport", default=HTTP, choices=(HTTP, WEBSOCKET))
    return parser.parse_args()


def _show(loaded: Loaded, spy: Path, file: Path) -> None:
    (pid,) = loaded.subject
    before = account.thread_seconds(pid)
    _watch(pid, spy, file)
    used = account.thread_seconds(pid)
    samples = read(file.read_text(encoding="utf-8").splitlines())
    whole = sum(counts.total() for counts in samples.values())
    for (thread, name), counts in samples.items():
        if counts.total() < LEAST_OF_ALL * whole:
            continue
        cpu = used.get(thread, 0.0) - before.get(thread, 0.0)
        print(f"\n{name}: {cpu:.2f} s of CPU in {SECONDS} s, {counts.total()} samples")
        print("\n".join(table(counts)))


def _watch(pid: int, spy: Path, file: Path) -> None:
    """Raises Unavailable."""
    command = [
        *(str(spy), "record", "--nonblocking", "--threads", "--format", "raw"),
        *("--pid", str(pid), "--duration", str(SECONDS), "--rate", str(SAMPLES_PER_SECOND)),
        *("--output", str(file)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"py-spy: {done.stderr.strip()}")


def read(lines: Iterable[str]) -> Samples:
    """The raw stacks of py-spy: a line for each, its frames from the outermost, then the count."""
    samples: Samples = {}
    for line in lines:
        sample = SAMPLE.match(line)
        frame = FRAME.match(sample["frame"]) if sample else None
        if sample and frame:
            thread = int(sample["id"]), sample["name"]
            where = frame["module"], frame["function"]
            samples.setdefault(thread, Counter())[where] += int(sample["count"])
    return samples


def table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Modules by their own time, and below each its functions."""
    modules: Counter[str] = Counter()
    for (module, _), count in counts.items():
        modules[module] += count
    least = LEAST_OF_THREAD * counts.total()
    for module, count in modules.most_common():
        if count >= least:
            yield f"  {_per_cent(count, counts)}  {module}"
        for (place, name), own in counts.most_common():
            if place == module and own >= least:
                yield f"  {_per_cent(own, counts)}      {name}"


def _per_cent(count: int, counts: Counter[tuple[str, str]]) -> str:
    return f"{100 * count / counts.total():5.1f} %"


if __name__ == "__main__":
    sys.exit(main())
