"""The ledger's disk and the thread that writes to it, in virtual time.

The writer and the book are the real ones, and so is how jobs are grouped, tried again and owed;
only the thread is gone: its work happens at a moment of its own, outside the process's loop.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from latchway.ledger.committer import BATCH_MOST, RETRY_SECONDS, Committer, Job, Outcome
from latchway.ledger.database import make_tables
from latchway.ledger.sqlite import Book
from sim.universe import Killed, Universe

QUICK = (0.0002, 0.001, 0.001, 0.004, 0.05)
"""Seconds of a commit."""
SLOW = (0.4, 1.9, 2.1, 3.5)
"""Seconds, about those for which a turn waits for it."""


class Disk:
    """What the database's disk does at the moment.

    `fault`: begin | commit | slow, until `until`; `kills`: before | after, the process dies at the
    next commit.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.fault: str | None = None
        self.until = 0.0
        self.kills: str | None = None
        self.connection = self._connect()
        make_tables(self.connection)

    def _connect(self) -> sqlite3.Connection:
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, /, *args: Any) -> sqlite3.Cursor:
                if sql[0] in "BC":
                    disk.meet(sql)
                cursor = super().execute(sql, *args)
                if disk.kills == "after" and sql == "COMMIT":
                    disk.kills = None
                    raise Killed
                return cursor

        connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA cache_size=-8000")
        return connection

    def fail(self, fault: str, seconds: float) -> None:
        self.fault, self.until = fault, self.universe.now + seconds
        self.universe.note("disk: %s for %s s", fault, seconds)

    def meet(self, sql: str) -> None:
        """What a statement that begins or ends a transaction meets."""
        if self.kills == "before" and sql == "COMMIT":
            self.kills = None
            raise Killed
        if self.fails and self.fault == ("begin" if sql.startswith("BEGIN") else "commit"):
            raise sqlite3.OperationalError("database or disk is full")

    @property
    def fails(self) -> bool:
        return self.fault is not None and self.universe.now < self.until

    def seconds(self) -> float:
        """How long the next commit takes."""
        slow = self.fails and self.fault == "slow"
        return self.universe.random.choice(SLOW if slow else QUICK)


class Steps(Committer):
    """`Committer` without its thread. `died`: the process it belonged to is gone."""

    disk: Any = None
    """Of the world that runs now."""

    def __init__(self, book: Book, post: Callable[[list[Outcome]], None]) -> None:
        self._book, self._post = book, post
        self._waiting: deque[Job] = deque()
        self._owed: list[Job] = []
        self._busy = False
        self.died = False
        self.disk = Steps.disk

    def put(self, jobs: list[Job]) -> None:
        self._waiting.extend(jobs)
        self._begin()

    def _begin(self) -> None:
        """A commit takes its time before it is durable, or after, when nobody knows of it yet."""
        if self._busy or self.died:
            return
        self._busy = True
        seconds = self.disk.seconds()
        before = seconds if self.disk.universe.random.random() < 0.6 else 0.0
        self.disk.universe.after(before, lambda: self._work_for(seconds - before))

    def _work_for(self, seconds: float) -> None:
        if self.died:
            return
        outcomes = self._work_once()
        self.disk.universe.after(seconds, lambda: self._answer(outcomes))

    def _work_once(self) -> list[Outcome]:
        jobs = [self._waiting.popleft() for _ in range(min(BATCH_MOST, len(self._waiting)))]
        if self._owed:
            self._pay()
        return self._commit(jobs) if jobs else []

    def _answer(self, outcomes: list[Outcome]) -> None:
        if self.died:
            return
        self._busy = False
        if outcomes:
            self._post(outcomes)
        if self._waiting:
            self._begin()
        elif self._owed:
            self.disk.universe.after(RETRY_SECONDS, self._begin)

    def stop(self) -> bool:
        """Write all that was put before, as the thread does."""
        while self._waiting:
            self._work_once()
        if self._owed:
            self._pay()
        self.died = True
        return True


class NoLock:
    """Nobody else wants this database."""

    def release(self) -> None:
        """Nothing was taken."""


def reader(disk: Disk) -> Callable[[Path], Any]:
    """What stands for `open_reader`: the same connection, which a writer's end leaves open."""

    class Reader:
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            return disk.connection.execute(sql, *args)

        def close(self) -> None:
            """The world looks at it afterwards."""

    return lambda path: Reader()
