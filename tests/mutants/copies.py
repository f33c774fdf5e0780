"""Private copies of the repository, in which the source may be broken without anybody noticing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mutants.table import ROOT

TESTED = ("ledger", "routes", "serve", "wire", "workers")
"""Folders of tests that a row of the table may name."""

PLAYED = (
    "src",
    *(f"tests/{name}" for name in ("lock", "harness", "mutants", *TESTED)),
)
"""What the lock is played with, and the tests that see what it cannot."""

PASSED, FAILED = 0, 1
"""What pytest ends with, when it could run."""

JUDGE_SECONDS = 300
"""For a whole lock, which takes a few seconds: the worst that a mutant may cost a run."""


class Copy:
    """`folder` has the named parts of the repository, as they are there."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        for name in names:
            shutil.copytree(ROOT / name, folder / name)

    @contextmanager
    def broken(self, path: str, source: str) -> Iterator[None]:
        """While it lasts, the file says `source`."""
        file = self.folder / path
        kept, times = file.read_bytes(), file.stat()
        file.write_text(source, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(kept)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def play(self, *names: str, diff: bool = False, most: int | None = None) -> list[str]:
        """What the judge says, line by line: without `diff`, the fixtures that differ. `most`: of
        that many scenarios at most.

        RuntimeError: what is in the copy cannot be played at all.
        """
        arguments = ["--diff"] * diff + ["--most", str(most)] * (most is not None) + [*names]
        judged = self._run("mutants.judge", *arguments)
        if judged.returncode:
            raise RuntimeError(f"cannot be played:\n{judged.stderr}")
        return judged.stdout.splitlines()

    def passes(self, test: str) -> bool:
        """`test`: as pytest names it, from the repository's root. RuntimeError: it cannot run."""
        options = ["-x", "-q", "--import-mode=importlib", "-p", "no:cacheprovider"]
        tested = self._run("pytest", *options, "--rootdir", ".", test)
        if tested.returncode not in (PASSED, FAILED):
            raise RuntimeError(f"{test} cannot be run:\n{tested.stdout}{tested.stderr}")
        return tested.returncode == PASSED

    def _run(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        places = [str(self.folder / "src"), str(self.folder / "tests")]
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(places),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=JUDGE_SECONDS,
            check=False,
        )


@contextmanager
def copies(number: int, names: Sequence[str] = PLAYED) -> Iterator[list[Copy]]:
    """So many copies, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="latchway-mutants-") as folder:
        yield [Copy(Path(folder) / str(each), names) for each in range(number)]
