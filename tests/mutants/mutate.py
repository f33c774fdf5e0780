"""`make mutate`: breaks the proven sources in every small way, and asks their own tests.

A breakage that a file's own tests let pass is shown to all tests of its folder and, of the heart
and the wire, to the lock. What passes there, too, must be explained in `equivalent.toml`: a row
says why nobody could tell, and is itself a fault when somebody can.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import Phase, settings

from mutants.copies import Copy, copies
from mutants.generate import Breakage, breakages
from mutants.table import PACKAGE, ROOT

FOLDERS = ("turn", "wire")
FILES = ("routes/select.py", "ledger/prices.py", "ledger/reservation.py", "ledger/bill.py")
"""What is proven: the folders whole, and the pure files of others."""

EQUIVALENT = Path(__file__).with_name("equivalent.toml")

LOCK_TESTS = ("tests/lock/test_scenarios.py", "tests/lock/test_wire.py")

COPIED = (
    "src",
    *(f"tests/{name}" for name in ("harness", "turn", "wire", "routes", "ledger", "lock")),
)

PROCESSES = 2
CPU_SECONDS = 60
"""For one run of tests, which take a few: a breakage may never come to an end."""
MEMORY_BYTES = 2 << 30
EXAMPLES = 50
"""Of a property, where its test does not say: a breakage that needs more is for the fuzzer."""


@dataclass(frozen=True)
class Equivalent:
    """Breakages that change nothing that anybody could see. `reason`: why not.

    `line` and `change` are as they are printed; `*` in them stands for anything.
    """

    file: str
    line: str
    change: str
    reason: str

    def explains(self, breakage: Breakage) -> bool:
        return (
            breakage.file == self.file
            and _fits(breakage.line, self.line)
            and _fits(breakage.change, self.change)
        )


def _fits(text: str, pattern: str) -> bool:
    parts = map(re.escape, pattern.split("*"))
    return re.fullmatch(".*".join(parts), text) is not None


def equivalents() -> list[Equivalent]:
    """The rows of the table. A field that is missing or unknown: TypeError."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return [Equivalent(**row) for row in rows]


def sources() -> list[str]:
    """The proven files, below src/latchway."""
    package = ROOT / PACKAGE
    found = [path for folder in FOLDERS for path in (package / folder).glob("*.py")]
    return [*sorted(path.relative_to(package).as_posix() for path in found), *FILES]


def all_breakages(files: Sequence[str]) -> Iterator[Breakage]:
    for file in files:
        yield from breakages(file, (ROOT / PACKAGE / file).read_text(encoding="utf-8"))


def own_tests(file: str) -> list[str]:
    """The test files of a source: of its name, or with more behind it."""
    path = Path(file)
    folder = ROOT / "tests" / path.parent
    found = sorted({*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")})
    return [test.relative_to(ROOT).as_posix() for test in found]


def wider_tests(file: str) -> list[str]:
    """All of its folder's, and for what a whole turn goes through the lock's."""
    folder = Path(file).parent.as_posix()
    return [f"tests/{folder}", *(LOCK_TESTS if folder in FOLDERS else ())]


# ---- in a process of the pool

_mine: Copy


def _begin(free: SimpleQueue[Copy]) -> None:
    """Each process has a copy of its own."""
    global _mine
    _mine = free.get()
    sys.path[:0] = [str(_mine.folder / "src"), str(_mine.folder / "tests")]
    sys.dont_write_bytecode = True
    quick = (Phase.explicit, Phase.generate)
    settings.register_profile("quick", phases=quick, derandomize=True, max_examples=EXAMPLES)
    settings.load_profile("quick")


def survives(breakage: Breakage) -> bool:
    """Do all tests pass that should look there?"""
    with _mine.broken(f"{PACKAGE}/{breakage.file}", breakage.source):
        tests = own_tests(breakage.file)
        return (not tests or _pass(tests)) and _pass(wider_tests(breakage.file))


def pass_unbroken(file: str) -> bool:
    """Before anything is broken: a test that fails then would kill everything."""
    return _pass(wider_tests(file))


def _pass(tests: Sequence[str]) -> bool:
    """In a process that imports everything anew, and may break, hang or grow as it likes."""
    child = os.fork()
    if child == 0:
        _run_tests(tests)
    _, status = os.waitpid(child, 0)
    return status == 0


def _run_tests(tests: Sequence[str]) -> NoReturn:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        places = [str(_mine.folder / test) for test in tests]
        options = ["-x", "--import-mode=importlib", "--noconftest", "-p", "no:cacheprovider"]
        code = pytest.main([*options, "--rootdir", str(_mine.folder), *places])
    finally:
        os._exit(code)


# ---- the run


def run(files: Sequence[str]) -> int:
    """Print what passes unexplained, and what is explained and does not pass; how much it is."""
    rows = [row for row in equivalents() if row.file in files]
    needed: set[Equivalent] = set()
    number, explained, faults = 0, 0, 0
    for breakage, survived in _judged(files):
        number += 1
        told = [row for row in rows if row.explains(breakage)]
        explained += survived and bool(told)
        needed.update(told if survived else ())
        if survived and not told:
            faults += 1
            where = f"{breakage.file}:{breakage.number}"
            print(f"{where}: {breakage.line}: {breakage.change}", flush=True)
    for row in rows:
        if row not in needed:
            faults += 1
            print(f"{row.file}: {row.line}: {row.change}: explained, and some test notices it")
    print(f"{number} breakages, {explained} explained, {faults} to look at", flush=True)
    return faults


def _judged(files: Sequence[str]) -> Iterator[tuple[Breakage, bool]]:
    context = get_context("fork")
    with copies(PROCESSES, COPIED) as made:
        free: SimpleQueue[Copy] = context.SimpleQueue()
        for copy in made:
            free.put(copy)
        with ProcessPoolExecutor(PROCESSES, context, _begin, (free,)) as pool:
            for file, passes in zip(files, pool.map(pass_unbroken, files), strict=True):
                if not passes:
                    sys.exit(f"nothing is broken yet, and the tests of {file} fail")
            everything = list(all_breakages(files))
            yield from zip(everything, pool.map(survives, everything), strict=True)


def main(arguments: list[str]) -> int:
    """Files below src/latchway; without: all that are proven."""
    return 1 if run(arguments or sources()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
