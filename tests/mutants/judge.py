"""Plays the lock on the source that comes first on the path, and says which fixtures differ.

It is started in a private copy, `python -m mutants.judge [--diff] [--most N] [NAME …]`, where a
name is a scenario's (none: all of them). Each is played on the bare turn and then over the wires,
and the first fixture that is no longer recorded as it stands is printed; `--diff`: all of them, and
how they differ; `--most N`: until so many scenarios differ.
"""

from __future__ import annotations

import logging
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from types import FrameType

from lock.play import recorded
from lock.script import SCENARIOS, read, write

SECONDS = 5
"""Of the processor, for one scenario, which takes a fiftieth of one: a mutant may never end."""

Difference = tuple[str, list[str]]
"""A fixture's path below tests/lock, and how it differs, line by line."""


class Endless(BaseException):
    """Nothing that is played may catch it."""


def names() -> list[str]:
    """Of all scenarios."""
    paths = sorted(SCENARIOS.rglob("*.turn"))
    return [path.relative_to(SCENARIOS).with_suffix("").as_posix() for path in paths]


def differences(name: str) -> Iterator[Difference]:
    """The fixtures of a scenario that differ. A fault or no end is a difference, too."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        alone = list(_on_the_bare_turn(name))
        yield from alone
        yield from (each for each in _over_the_wires(name) if each not in alone)
    except (Exception, Endless) as fault:
        yield f"scenarios/{name}.turn", [f"{type(fault).__name__}: {fault}"]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _on_the_bare_turn(name: str) -> Iterator[Difference]:
    said = (SCENARIOS / f"{name}.turn").read_text(encoding="utf-8")
    scenario = read(said)
    now = write(scenario, recorded(scenario))
    if now != said:
        yield f"scenarios/{name}.turn", _lines(said, now)


def _over_the_wires(name: str) -> Iterator[Difference]:
    from lock import fixtures  # Here alone: most mutants are noticed without a gateway.

    for path, data in fixtures.fixtures_of(name).items():
        said = path.read_bytes()
        if data != said:
            yield fixtures.name_of(path), _lines(said.decode(), data.decode())


def _lines(said: str, now: str) -> list[str]:
    before, after = said.splitlines(), now.splitlines()
    return list(unified_diff(before, after, "the fixture", "recorded now", lineterm=""))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Endless(f"no end within {SECONDS} s")


def main() -> None:
    """See the module. What the broken source logs is left out."""
    parser = ArgumentParser()
    parser.add_argument("--diff", action="store_true")
    parser.add_argument("--most", type=int, default=sys.maxsize)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    logging.disable()
    signal.signal(signal.SIGVTALRM, _interrupt)
    told = (list(differences(name) if asked.diff else islice(differences(name), 1))
            for name in asked.names or names())  # fmt: skip
    for found in islice(filter(None, told), asked.most):
        for fixture, lines in found:
            print(fixture, *(lines if asked.diff else []), sep="\n")


if __name__ == "__main__":
    main()
