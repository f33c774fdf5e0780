"""Disks that fail or hang, for the one connection that writes."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

DEADLINE = 10.0
"""Seconds, for what a test waits for; never reached unless it fails."""


class Disk:
    """What the connection below does, as the test wants it."""

    def __init__(self) -> None:
        self.fault: sqlite3.Error | None = None
        """Raised by every statement that begins a transaction, or by COMMIT alone."""
        self.at = "BEGIN"
        self.hangs = threading.Event()
        self.hangs.set()
        self.reached = threading.Event()
        """A statement has reached the hanging disk."""
        self.commits = 0

    def connection(self) -> type[sqlite3.Connection]:
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, /, *args: Any) -> sqlite3.Cursor:
                if sql.startswith(disk.at):
                    disk.meet()
                disk.commits += sql == "COMMIT"
                return super().execute(sql, *args)

        return Connection

    def meet(self) -> None:
        if not self.hangs.is_set():
            self.reached.set()
            self.hangs.wait(DEADLINE)
        if self.fault is not None:
            raise self.fault

    def fill(self) -> None:
        self.fault = sqlite3.OperationalError("database or disk is full")

    def mend(self) -> None:
        self.fault = None

    def hang(self, at: str) -> None:
        self.at = at
        self.hangs.clear()
