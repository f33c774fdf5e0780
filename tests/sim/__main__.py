"""`make sim`: worlds by the thousand on all processors; or one world again, by its seed.

Exit code 1: something was violated, or a fault did not meet a phase. A violation is told with its
seed, which is the whole story: the same world passes again, event by event.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import SystemRandom

from sim import coverage
from sim.lives import Violated, live, retold

NEW_SEEDS = 1 << 48
WORLDS_AT_ONCE = 10
"""In one part of a process's work: about a second."""
MOST_VIOLATIONS = 5
PROGRESS_SECONDS = 20.0


def main() -> int:
    options = _options()
    if options.seed is not None:
        return _again(options.seed)
    first = SystemRandom().randrange(NEW_SEEDS) if options.first is None else options.first
    whose = "for ever" if options.forever else f"{options.turns} turns"
    print(f"sim: {whose}, seeds from {first}", flush=True)
    counted, violated = _run(first, None if options.forever else options.turns, options.processes)
    for each in violated:
        _tell(each)
    return 1 if violated or not _covered(counted) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sim", description=__doc__)
    parser.add_argument("--turns", type=int, default=coverage.WHOLE_TURNS)
    parser.add_argument("--seed", type=int, help="this world alone, with all that happens in it")
    parser.add_argument("--first", type=int, help="the first world's seed; new ones if not given")
    parser.add_argument("--forever", action="store_true", help="until it is stopped")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    return parser.parse_args()


def _again(seed: int) -> int:
    violated, trace = retold(seed)
    print("\n".join(trace))
    print(f"sim: seed {seed}: {violated or 'all holds'}")
    return 1 if violated else 0


def _run(
    first: int, turns: int | None, processes: int
) -> tuple[Counter[coverage.Pair], list[Violated]]:
    """Live worlds until so many turns have passed, or something is violated."""
    counted: Counter[coverage.Pair] = Counter()
    violated: list[Violated] = []
    began = told = time.monotonic()
    with multiprocessing.Pool(processes) as pool:
        for lives in pool.imap_unordered(live, _parts(first)):
            counted.update(lives.counted)
            violated += lives.violated
            now = time.monotonic()
            if now > told + PROGRESS_SECONDS:
                told = now
                _say(counted, now - began)
            if len(violated) >= MOST_VIOLATIONS or (turns and _enough(counted, turns)):
                break
        pool.terminate()
    _say(counted, time.monotonic() - began)
    return counted, violated


TURNS = ("turns", "all")


def _enough(counted: Counter[coverage.Pair], turns: int) -> bool:
    """So many turns; a whole run takes up to as many again for a pair that chance brought late."""
    made = counted[TURNS]
    if made < turns or made >= 2 * turns:
        return made >= turns
    return turns < coverage.WHOLE_TURNS or not coverage.missing(counted)


def _parts(first: int) -> Iterator[range]:
    return (range(at, at + WORLDS_AT_ONCE) for at in count(first, WORLDS_AT_ONCE))


def _say(counted: Counter[coverage.Pair], seconds: float) -> None:
    print(f"sim: {counted[TURNS]} turns in {seconds:.0f} s", flush=True)


def _tell(violated: Violated) -> None:
    """A violation, and what happened to its turn."""
    print(f"\nseed {violated.seed}: {violated.message}")
    print("\n".join(f"  {line}" for line in violated.story))
    print(f"  all of it: make sim SEED={violated.seed}")


def _covered(counted: Counter[coverage.Pair]) -> bool:
    """In a whole run every fault has met every phase."""
    if counted[TURNS] < coverage.WHOLE_TURNS:
        return True
    missing = coverage.missing(counted)
    for (fault, phase), times in missing:
        print(f"sim: {fault} met {phase} {times} times, less than {coverage.AT_LEAST}")
    return not missing


if __name__ == "__main__":
    sys.exit(main())
