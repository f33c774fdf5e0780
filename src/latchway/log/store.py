"""The request log's rows: one for each turn, written behind it and found by either of its ids.

A row is the record of `requests show --json` as it is, with beside it what it is found by. No
prompt, no output and no credential is in it (R7), for none is in the record.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

PUT = (
    "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO UPDATE SET"
    " response_id = excluded.response_id, key = excluded.key, owner = excluded.owner,"
    " started_at = excluded.started_at, record = excluded.record"
)
FIND = (
    "SELECT record FROM log WHERE (request_id = ?1 OR response_id = ?1)"
    " AND (?2 IS NULL OR key = ?2) ORDER BY rowid DESC LIMIT 1"
)
NEWEST = "SELECT record FROM log WHERE ?1 IS NULL OR key = ?1 ORDER BY rowid DESC LIMIT ?2"

PRUNED_AT_ONCE = 1000
"""Rows in one step of pruning: a few milliseconds, so that no turn's commit waits behind it."""

PRUNE = (
    "DELETE FROM log WHERE started_at < ? AND rowid IN"
    " (SELECT rowid FROM log ORDER BY rowid LIMIT ?)"
)


def put(connection: sqlite3.Connection, record: dict[str, Any]) -> None:
    """Write a record, or write it anew. KeyError, TypeError or ValueError: it is no record."""
    connection.execute(
        PUT,
        (
            record["request_id"],
            record["response_id"],
            record["key"],
            record["owner"],
            record["started_at"],
            msgspec.json.encode(record).decode(),
        ),
    )


def find(
    connection: sqlite3.Connection, request_or_response_id: str, key: str | None = None
) -> dict[str, Any] | None:
    """The record of that id, the newest if several have it; of `key` alone if one is named."""
    row = connection.execute(FIND, (request_or_response_id, key)).fetchone()
    return msgspec.json.decode(row[0], type=dict[str, Any]) if row else None


def newest(
    connection: sqlite3.Connection, limit: int, key: str | None = None
) -> list[dict[str, Any]]:
    """At most `limit` records; the one that ended last comes first."""
    rows = connection.execute(NEWEST, (key, limit))
    return [msgspec.json.decode(row[0], type=dict[str, Any]) for row in rows]


def prune(connection: sqlite3.Connection, before: str) -> bool:
    """Delete some of the records that began before `before` (ISO), from the oldest on. True: there
    may be more."""
    return connection.execute(PRUNE, (before, PRUNED_AT_ONCE)).rowcount == PRUNED_AT_ONCE
