"""The fuzzer: makes an input from a seed, checks what holds of it, and keeps what did not hold.

An input is bytes and nothing else: what a check leaves to chance (where the bytes are cut, say) it
draws from the bytes themselves. So a file replays as surely as a seed does, and can be made small.
"""

from __future__ import annotations

import signal
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

from fuzz.dice import Dice
from fuzz.mutate import mutated

CORPUS = Path(__file__).parent / "corpus"

GROWN, DAMAGED = 0.5, 0.8
"""Up to the first share an input is as the grammar made it, up to the second also damaged; the
rest are damaged files of the corpus."""

HANG_SECONDS = 20
"""For one input. The slowest takes some hundredths; a busy machine is no hang."""

SHRINKING_CHECKS = 3000
"""For making one finding small."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is fuzzed. `check` raises if something does not hold of the input."""

    name: str
    make: Callable[[Dice], bytes]
    check: Callable[[bytes], None]
    inputs: int
    """Of about a million of the whole run: few where one takes long."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input of which something did not hold. `seed`: None if it came from a file."""

    target: str
    seed: int | None
    data: bytes
    fault: str

    @property
    def name(self) -> str:
        return f"{self.target}-{zlib.crc32(self.data):08x}"


class Hung(Exception):
    """A check was not done within HANG_SECONDS."""


@cache
def corpus(target: str) -> tuple[bytes, ...]:
    """The target's files, in the order of their names."""
    return tuple(path.read_bytes() for path in sorted((CORPUS / target).glob("*")))


def input_of(target: Target, seed: int) -> bytes:
    """The input that the seed stands for; it also depends on the files of the corpus."""
    dice, known = Dice(seed), corpus(target.name)
    kind = dice.below(100) / 100
    data = target.make(dice) if kind < DAMAGED or not known else dice.pick(known)
    return data if kind < GROWN else mutated(dice, data, known)


def run(target: Target, seeds: Iterable[int]) -> Finding | None:
    """Check the inputs of these seeds; the first finding, made small, or None."""
    for seed in seeds:
        found = examine(target, input_of(target, seed), seed)
        if found is not None:
            return shrunk(target, found)
    return None


def examine(target: Target, data: bytes, seed: int | None = None) -> Finding | None:
    """Check one input. Whatever its check raises is what the fuzzer is looking for."""
    try:
        with _limited():
            target.check(data)
    except Exception:
        return Finding(target.name, seed, data, traceback.format_exc())
    return None


def shrunk(target: Target, found: Finding) -> Finding:
    """The finding with as few of its bytes as still do not hold, as far as cutting pieces goes."""
    size, checks = max(1, len(found.data) // 2), 0
    while size and checks < SHRINKING_CHECKS:
        for start in range(0, len(found.data), size):
            checks += 1
            data = found.data[:start] + found.data[start + size :]
            smaller = examine(target, data, found.seed)
            if smaller is not None:
                found = smaller
                break
        else:
            size //= 2
    return found


@contextmanager
def _limited() -> Iterator[None]:
    """Raises Hung in the block when it takes too long. Only in a process's main thread."""
    signal.signal(signal.SIGALRM, _hung)
    signal.alarm(HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def _hung(number: int, frame: FrameType | None) -> None:
    raise Hung(f"not done after {HANG_SECONDS} s")


def chosen(data: bytes) -> Dice:
    """The dice of a check: what it leaves to chance follows from the input."""
    return Dice(zlib.crc32(data))
