"""Who made what, as a turn asks for it: on a connection that reads, in the process that serves.

Nobody is asked for it: a turn's choice of a route waits neither for a commit nor for a process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from latchway.ledger import made
from latchway.ledger.database import LedgerFault

Found = TypeVar("Found")


class Known:
    """A part of `ports.Ledger`. What is older than `keep_ms` is not known any more."""

    def __init__(self, reader: sqlite3.Connection, now_ms: Callable[[], int], keep_ms: int) -> None:
        self._reader, self._now_ms, self._keep_ms = reader, now_ms, keep_ms

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        """As the port says. LedgerFault: the ledger cannot be read."""
        return self._look_up(made.find, owner, marks)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        """As `maker`."""
        return self._look_up(made.is_anothers, owner, marks)

    def _look_up(self, ask: Callable[..., Found], owner: str, marks: Sequence[bytes]) -> Found:
        try:
            return ask(self._reader, owner, marks, self._now_ms() - self._keep_ms)
        except sqlite3.Error as error:
            raise LedgerFault(f"the ledger cannot be read: {error}") from None

    def close(self) -> None:
        self._reader.close()
