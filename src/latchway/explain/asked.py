"""Who asks, and what the ledger knows of what a request holds; read, never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from latchway.ledger import report
from latchway.ledger.prices import parse_usd


@dataclass(frozen=True, slots=True)
class Account:
    """A client key, as the ledger has it at this moment. `available`: nano-USD."""

    key: str
    owner: str
    available: int
    unlimited: bool
    revoked: bool


def account_of(connection: sqlite3.Connection, name: str) -> Account | None:
    """The account of the key of this name; None: there is none."""
    row = next((row for row in report.keys(connection) if row["key"] == name), None)
    if row is None:
        return None
    available = parse_usd(row["available"])
    return Account(name, row["owner"], available, row["unlimited"], row["revoked"])


class Assumed:
    """`routes.table.Known` when no key is named: `route` made whatever a request holds.

    `asked`: it mattered who made it, so that what follows is an assumption and no knowledge.
    """

    def __init__(self, route: str) -> None:
        self._route = route
        self.asked = False

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        self.asked = self.asked or bool(marks)
        return self._route if marks else None

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return False
