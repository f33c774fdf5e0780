"""Bugs that are planted one at a time in a copy of the source: the simulation must find each.

A simulation that finds nothing may have nothing to find, or may not look. `make sim-bugs` tells
the two apart. Each bug is a change of text; one that no longer fits the source fails the run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "latchway", ROOT / "tests"

TURNS_MOST = 100_000
"""Within which each is found, from the first seed on."""
FIRST_SEED = 1


@dataclass(frozen=True)
class Bug:
    """`changes`: file, text, and what stands there instead."""

    name: str
    changes: tuple[tuple[str, str, str], ...]


def _bug(name: str, *changes: tuple[str, str, str]) -> Bug:
    return Bug(name, changes)


BUGS = (
    _bug("a client that has left is replayed for",
         ("turn/decide.py", "if not s.client_here:", "if False:")),
    _bug("replayed after a lifecycle event was delivered",
         ("turn/decide.py", "if s.delivered is Delivered.LIFECYCLE:", "if False:")),
    _bug("replayed although work was seen", ("turn/decide.py", "if s.observed:", "if False:")),
    _bug("a failure that is final is replayed",
         ("turn/decide.py", "if not s.failure.replayable:", "if False:")),
    _bug("a stored request is replayed", ("turn/decide.py", "if s.binding in BOUND and",
                                          "if s.binding is None and")),
    _bug("tools that act are replayed", ("turn/decide.py", "s.acting_tools and", "False and")),
    _bug("replays without a budget",
         ("routes/budget.py", "return self.replays < max(", "return True or self.replays < max(")),
    _bug("the same route again",
         ("routes/select.py", "and route.name != failed.name", "and route.name")),
    _bug("the latch shuts late",
         ("turn/delivery.py", "        self._shut(frames, now)\n", "")),
    _bug("held events of attempt 1 go out with attempt 2",
         ("turn/between.py", "        self.attempt = Attempt(",
          "        held = self.attempt.hold.frames if self.attempt else []\n"
          "        self.attempt = Attempt("),
         ("turn/between.py", "        self.replayed = number > 1\n",
          "        self.replayed = number > 1\n        self.attempt.hold.frames = held\n"),
         ("turn/ending.py", "            self.live.hold.discard()\n            self.state",
          "            self.state")),
    _bug("attempt 1 is not dropped before the replay",
         ("drive.py", "        self._hang_up()\n\n    def _release",
          "        if failed.verdict != 'replay':\n            self._hang_up()\n\n"
          "    def _release")),
    _bug("a client that leaves is not noticed",
         ("serve/http.py", "            self._driver.client_gone()", "            pass")),
    _bug("nothing is released when the hold's time is over",
         ("turn/delivery.py", "return self.live.hold.since + self.live.place.hold_seconds",
          "return None")),
    _bug("an attempt has no clock",
         ("turn/attempt.py", "return None if self.paused else self.heard",
          "return None if True else self.heard")),
    _bug("the second of a pair is not waited for",
         ("turn/limits.py", "PAIR_WAIT_SECONDS = 1.0", "PAIR_WAIT_SECONDS = 0.0")),
    _bug("a turn that delivered nothing is charged",
         ("turn/billing.py", "        return Basis.REFUND", "        return Basis.ESTIMATE")),
    _bug("the usage of attempt 1 is charged",
         ("turn/ending.py", "usage=billed.usage if", "usage=(self.records[:1] or [billed])[0].usage"
          " if")),
    _bug("delivered before it is settled",
         ("turn/ending.py", "        out.append(do.Release(self.live.number))\n",
          "        out.append(do.Release(self.live.number))\n"
          "        self._deliver_result(frame, now, out)\n"),
         ("turn/ending.py", "            self._deliver_result(self.result, now, out)\n",
          "            pass\n")),
    _bug("a refund that the disk refused is forgotten",
         ("ledger/committer.py", "            self._owe(job)\n", "")),
    _bug("a charge that came too late stands",
         ("ledger/writer.py", "elif job.amends is not None and", "elif False and")),
    _bug("settled twice", ("ledger/sqlite.py", 'if turn.state != "open":', "if False:")),
    _bug("nothing is refunded after a crash",
         ("ledger/recovery.py", "for _, request_id in orphans:", "for request_id in ():")),
    _bug("what lies unread behind a reset is lost",
         ("upstreams/connection.py", "            self._empty_socket()\n", "            pass\n")),
    _bug("a slow client keeps from being read what decides",
         ("drive.py", "self._slow and self.turn.state in OPEN", "self._slow")),
    _bug("two turns at once on one socket",
         ("serve/websocket.py", "        if self._driver is None:\n            self._begin(create)",
          "        if True:\n            self._begin(create)")),
)  # fmt: skip


def main() -> int:
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(_hunt, BUGS))
    print(f"sim-bugs: {sum(found)} of {len(BUGS)} found in {time.monotonic() - began:.0f} s")
    return 0 if all(found) else 1


def _hunt(bug: Bug) -> bool:
    """Is the bug found?"""
    with tempfile.TemporaryDirectory() as folder:
        plant(bug, Path(folder) / "latchway")
        run = subprocess.run(
            [sys.executable, "-m", "sim", "--processes", "1", "--first", str(FIRST_SEED),
             "--turns", str(TURNS_MOST)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((folder, str(TESTS)))},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    by = [line for line in run.stdout.splitlines() if line.startswith("seed ")]
    print(f"{bug.name}: {by[0][:150] if by else 'NOT FOUND ' + run.stderr[-300:]}", flush=True)
    return bool(by)


def plant(bug: Bug, copy: Path) -> None:
    """A copy of the source with the bug in it. LookupError: the source has changed."""
    shutil.copytree(SOURCE, copy)
    for file, text, instead in bug.changes:
        path = copy / file
        source = path.read_text(encoding="utf-8")
        if source.count(text) != 1:
            raise LookupError(f"{bug.name}: {text!r} is not once in {file}: plant it anew")
        path.write_text(source.replace(text, instead), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
