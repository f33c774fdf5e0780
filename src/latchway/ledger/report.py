"""The ledger, the keys and the log as the commands and the admin API show them (JSON's shapes)."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any, Protocol

from latchway.ledger.database import open_reader, readable
from latchway.ledger.prices import format_usd
from latchway.ledger.recovery import iso
from latchway.log import store

ACCOUNTS = (
    "SELECT key, owner, unlimited, created_ms, revoked_ms, granted, charged, reserved"
    " FROM account JOIN chain USING (account)"
    " WHERE number = (SELECT max(number) FROM chain WHERE chain.account = account.account)"
    " AND (?1 IS NULL OR key = ?1) ORDER BY account"
)
ENTRIES = (
    "SELECT request_id, key, kind, amount, at_ms FROM entry JOIN account USING (account)"
    " LEFT JOIN turn USING (turn) WHERE ?1 IS NULL OR key = ?1"
    " ORDER BY at_ms, entry.account, number, part"
)
LOSSES = (
    "SELECT coalesce(sum(amount), 0) FROM entry JOIN account USING (account)"
    " WHERE kind IN ('loss', 'adjust') AND (?1 IS NULL OR key = ?1)"
)


def ledger(connection: sqlite3.Connection, key: str | None = None) -> dict[str, Any]:
    """`latchway ledger --json`: balances, entries in the order they were made, and the losses (what
    was given back by adjustments included). Of one key if it is named."""
    accounts = [_account(row) for row in connection.execute(ACCOUNTS, (key,))]
    (losses,) = connection.execute(LOSSES, (key,)).fetchone()
    return {
        "accounts": accounts,
        "losses": format_usd(losses),
        "entries": [_entry(row) for row in connection.execute(ENTRIES, (key,))],
    }


def keys(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """`latchway keys list --json`: each key with its balance, without its secret."""
    return [
        {
            **_account(row),
            "unlimited": bool(row[2]),
            "revoked": row[4] is not None,
            "created_at": iso(row[3]),
        }
        for row in connection.execute(ACCOUNTS, (None,))
    ]


def _account(row: tuple[Any, ...]) -> dict[str, str]:
    """An unlimited key is granted what it uses, as it uses it: nothing is ever below zero."""
    key, owner, unlimited, _, _, granted, charged, reserved = row
    if unlimited:
        granted = max(granted, charged + reserved)
    return {
        "key": key,
        "owner": owner,
        "granted": format_usd(granted),
        "charged": format_usd(charged),
        "reserved": format_usd(reserved),
        "available": format_usd(granted - charged - reserved),
    }


def _entry(row: tuple[Any, ...]) -> dict[str, str | None]:
    request_id, key, kind, amount, at_ms = row
    return {
        "turn": request_id,
        "key": key,
        "kind": kind,
        "amount": format_usd(amount),
        "at": iso(at_ms),
    }


class Behind(Protocol):
    """Who writes: what is not yet in the database, and whether it can be written (`Writer`)."""

    @property
    def healthy(self) -> bool: ...
    def find(self, request_or_response_id: str) -> dict[str, Any] | None: ...


class Reader:
    """The same, for a gateway: one connection, whichever thread asks, one question at a time.

    With its `writer`, a record is found as soon as its turn has ended. LedgerFault: a question
    cannot be answered, for the file is damaged, say.
    """

    def __init__(self, path: Path, writer: Behind | None = None) -> None:
        self._path, self._connection = path, open_reader(path)
        self._writer = writer
        self._one = threading.Lock()

    def request(self, request_id: str, key: str | None) -> dict[str, Any] | None:
        """A record by request id or response id; of `key` alone if one is named."""
        record = self._writer.find(request_id) if self._writer else None
        if record is not None and key in (None, record["key"]):
            return record
        with self._one, readable(self._path):
            return store.find(self._connection, request_id, key)

    def requests(self, limit: int) -> list[dict[str, Any]]:
        with self._one, readable(self._path):
            return store.newest(self._connection, limit)

    def keys(self) -> list[dict[str, Any]]:
        with self._one, readable(self._path):
            return keys(self._connection)

    def ledger(self) -> dict[str, Any]:
        with self._one, readable(self._path):
            return ledger(self._connection)

    def healthy(self) -> bool:
        """Can the database be read, and could it be written the last time?"""
        if self._writer is not None and not self._writer.healthy:
            return False
        try:
            with self._one:
                self._connection.execute("SELECT 1 FROM epoch LIMIT 1").fetchone()
        except sqlite3.Error:
            return False
        return True

    def close(self) -> None:
        self._connection.close()
