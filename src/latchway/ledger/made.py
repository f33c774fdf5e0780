"""Affinity: which route made what an owner may send back, for as long as the log is kept (R3).

A response's id, a conversation's, an item's id and its encrypted content, each known by its mark
(wire/marks.py): nothing of what was said is kept. It is written in the commit that settles the turn
which made it, so whoever has seen a response can continue it, also after the gateway was killed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

PUT = "INSERT OR REPLACE INTO made (owner, mark, route, made_ms) VALUES (?, ?, ?, ?)"
FIND = "SELECT mark, route FROM made WHERE owner = ? AND made_ms > ? AND mark IN ({})"
ANOTHERS = (
    "SELECT 1 FROM made AS other WHERE owner <> ?1 AND made_ms > ?2 AND mark IN ({})"
    " AND NOT EXISTS (SELECT 1 FROM made WHERE owner = ?1 AND mark = other.mark AND made_ms > ?2)"
    " LIMIT 1"
)

PRUNED_AT_ONCE = 1000
"""Rows in one step of pruning: a few milliseconds, so that no turn's commit waits behind it."""

PRUNE = (
    "DELETE FROM made WHERE made_ms < ? AND rowid IN"
    " (SELECT rowid FROM made ORDER BY rowid LIMIT ?)"
)


def put(
    connection: sqlite3.Connection, owner: str, route: str, marks: Iterable[bytes], now_ms: int
) -> None:
    """`route` made these for `owner`; what is made again is new again."""
    connection.executemany(PUT, [(owner, mark, route, now_ms) for mark in marks])


def find(
    connection: sqlite3.Connection, owner: str, marks: Sequence[bytes], since_ms: int
) -> str | None:
    """The route that made the last of these which this owner has, and not before `since_ms`.

    None: there is none, or it is another owner's; the two cannot be told apart.
    """
    if not marks:
        return None
    query = FIND.format(",".join("?" * len(marks)))
    found = dict(connection.execute(query, (owner, since_ms, *marks)))
    return next((found[mark] for mark in reversed(marks) if mark in found), None)


def is_anothers(
    connection: sqlite3.Connection, owner: str, marks: Sequence[bytes], since_ms: int
) -> bool:
    """Has another owner one of these, and this one not? What both have is each one's own."""
    if not marks:
        return False
    query = ANOTHERS.format(",".join("?" * len(marks)))
    return connection.execute(query, (owner, since_ms, *marks)).fetchone() is not None


def prune(connection: sqlite3.Connection, before_ms: int) -> bool:
    """Delete some of what was made before, from the oldest on. True: there may be more."""
    return connection.execute(PRUNE, (before_ms, PRUNED_AT_ONCE)).rowcount == PRUNED_AT_ONCE
