"""Affinity: which route made what an owner may send back, for as long as the log is kept (R3).

A response's id, a conversation's, an item's id and its encrypted content, each known by its mark
(wire/marks.py): nothing of what was said is kept. It is written in the commit that settles the turn
which made it, so whoever has seen a response can continue it, also after the gateway was killed.
A background response can be cancelled while it runs, and is written before its id is seen, too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

PUT = "INSERT OR REPLACE INTO made (owner, mark, route, made_ms) VALUES (?, ?, ?, ?)"
PUT_IF_NEW = (
    "INSERT OR REPLACE INTO made (owner, mark, route, made_ms) SELECT ?1, ?2, ?3, ?4"
    " WHERE NOT EXISTS (SELECT 1 FROM made WHERE mark = ?2 AND owner <> ?1)"
    " OR EXISTS (SELECT 1 FROM made WHERE mark = ?2 AND owner = ?1)"
)
FIND = "SELECT mark, route FROM made WHERE owner = ? AND made_ms > ? AND mark IN ({})"
ANOTHERS = (
    "SELECT 1 FROM made AS other WHERE owner <> ?1 AND made_ms > ?2 AND mark IN ({})"
    " AND NOT EXISTS (SELECT 1 FROM made WHERE owner = ?1 AND mark = other.mark AND made_ms > ?2)"
    " LIMIT 1"
)

MARKS_AT_ONCE = 1024
"""In one query, far below what SQLite takes; most requests hold a few dozen."""

PRUNED_AT_ONCE = 1000
"""Rows in one step of pruning: a few milliseconds, so that no turn's commit waits behind it."""

PRUNE = (
    "DELETE FROM made WHERE made_ms < ? AND rowid IN"
    " (SELECT rowid FROM made ORDER BY rowid LIMIT ?)"
)


def put(
    connection: sqlite3.Connection,
    owner: str,
    route: str,
    marks: Iterable[bytes],
    now_ms: int,
    *,
    repeated: bool = False,
) -> None:
    """`route` made these for `owner`; what is made again is new again. `repeated`: it may have said
    again what it was told, and what another owner has does not become one's own by that."""
    query = PUT_IF_NEW if repeated else PUT
    connection.executemany(query, [(owner, mark, route, now_ms) for mark in marks])


def find(
    connection: sqlite3.Connection, owner: str, marks: Sequence[bytes], since_ms: int
) -> str | None:
    """The route that made the last of these which this owner has, and not before `since_ms`.

    None: there is none, or it is another owner's; the two cannot be told apart.
    """
    for some in _some_at_once(marks[::-1]):
        query = FIND.format(",".join("?" * len(some)))
        found: dict[bytes, str] = dict(connection.execute(query, (owner, since_ms, *some)))
        if found:
            return next(found[mark] for mark in some if mark in found)
    return None


def is_anothers(
    connection: sqlite3.Connection, owner: str, marks: Sequence[bytes], since_ms: int
) -> bool:
    """Has another owner one of these, and this one not? What both have is each one's own."""
    for some in _some_at_once(marks):
        query = ANOTHERS.format(",".join("?" * len(some)))
        if connection.execute(query, (owner, since_ms, *some)).fetchone() is not None:
            return True
    return False


def _some_at_once(marks: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (marks[at : at + MARKS_AT_ONCE] for at in range(0, len(marks), MARKS_AT_ONCE))


def prune(connection: sqlite3.Connection, before_ms: int) -> bool:
    """Delete some of what was made before, from the oldest on. True: there may be more."""
    return connection.execute(PRUNE, (before_ms, PRUNED_AT_ONCE)).rowcount == PRUNED_AT_ONCE
