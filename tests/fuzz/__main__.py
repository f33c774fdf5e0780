"""`make fuzz`: millions of new inputs on all processors; or one input again, by seed or by file.

Exit code 1: something was found. Each finding is a file and a seed, and the words that replay it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

from fuzz.engine import Finding, Target, examine, input_of, run, shrunk
from fuzz.targets import TARGETS, share

INPUTS = 5_000_000
FINDINGS = Path("fuzz-findings")
MOST_SHOWN = 10
"""Findings; many seeds often find one fault."""

CHUNKS = 200
"""A target's seeds are given to the processes in so many parts: each takes about a second."""

NEW_SEEDS = 1 << 48

Chunk = tuple[str, int, int]
"""A target's name, its first seed, how many."""


def main() -> int:
    options = _options()
    if options.file or (options.seed is not None and options.target):
        return _again(TARGETS[options.target], options.seed, options.file)
    first = SystemRandom().randrange(NEW_SEEDS) if options.seed is None else options.seed
    names = [options.target] if options.target else list(TARGETS)
    print(f"fuzz: {options.inputs} inputs for {', '.join(names)}; seeds from {first}", flush=True)
    began = time.monotonic()
    findings = _run_all(_chunks(names, first, options.inputs))
    print(f"fuzz: done in {time.monotonic() - began:.0f} s, {findings} findings")
    return 1 if findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=INPUTS, help="in all; default: %(default)s")
    parser.add_argument("--target", choices=TARGETS, help="this one alone")
    parser.add_argument("--seed", type=int, help="the first seed; with --target: that input again")
    parser.add_argument("--file", type=Path, help="with --target: the input in this file again")
    options = parser.parse_args()
    if options.file and not options.target:
        parser.error("--file needs --target, whose input it is")
    return options


def _again(target: Target, seed: int | None, file: Path | None) -> int:
    """One input again."""
    data = file.read_bytes() if file else input_of(target, seed or 0)
    found = examine(target, data, seed)
    if found is None:
        print(f"fuzz: {target.name}: all holds of {data!r}")
        return 0
    _tell(shrunk(target, found))
    return 1


def _chunks(names: Sequence[str], first: int, inputs: int) -> list[Chunk]:
    """The work in parts, the targets mixed, so that the last ones are done together."""
    parts: list[tuple[float, Chunk]] = []
    for name in names:
        count = share(TARGETS[name], inputs) if len(names) > 1 else inputs
        size = max(1, count // CHUNKS)
        for start in range(0, count, size):
            parts.append((start / count, (name, first + start, min(size, count - start))))
    return [chunk for _, chunk in sorted(parts)]


def _run_all(chunks: list[Chunk]) -> int:
    """Work them all off, tell what is found as it is found; how many findings there were."""
    findings, tenth = 0, max(1, len(chunks) // 10)
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for done, finding in enumerate(pool.imap_unordered(_run_chunk, chunks), 1):
            findings += finding is not None
            if finding is not None and findings <= MOST_SHOWN:
                _tell(finding)
            if done % tenth == 0:
                print(f"fuzz: {100 * done // len(chunks)} %, {findings} findings", flush=True)
    return findings


def _run_chunk(chunk: Chunk) -> Finding | None:
    name, first, count = chunk
    return run(TARGETS[name], range(first, first + count))


def _tell(finding: Finding) -> None:
    """Keep the finding as a file, and say how to see it again."""
    FINDINGS.mkdir(exist_ok=True)
    path = FINDINGS / finding.name
    path.write_bytes(finding.data)
    print(f"\n{finding.fault}\n{finding.target}: {finding.data[:500]!r}")
    if finding.seed is not None:
        print(f"  as it was found:  make fuzz TARGET={finding.target} SEED={finding.seed}")
    print(f"  made small:       make fuzz TARGET={finding.target} FILE={path}")
    print(f"  when mended:      mv {path} tests/fuzz/corpus/{finding.target}/", flush=True)


if __name__ == "__main__":
    sys.exit(main())
