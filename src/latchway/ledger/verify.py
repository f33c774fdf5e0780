"""`latchway ledger verify`: every invariant of the money computed anew, from the rows alone.

The database refuses what breaks a rule; this finds what was done to it behind its back. It reads
one snapshot, so it can run beside a gateway. Numbers such as I-B8 are the
invariants of docs/rules.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from latchway.ledger.chain import Link, Tail, follow
from latchway.ledger.database import make_tables, owned, roll_back
from latchway.ledger.prices import charge
from latchway.settings import Price
from latchway.wire.frame import Usage

CHAINS = (
    "SELECT chain.account, key, unlimited, number, request_id, kind, amount, at_ms, charge,"
    " chain.loss, chain.granted, chain.charged, chain.reserved, hash"
    " FROM chain JOIN account USING (account) LEFT JOIN turn USING (turn)"
    " ORDER BY chain.account, number"
)
SUMS = (
    "SELECT request_id, state, turn.reserved, turn.charged, turn.loss,"
    " begun.amount, ended.amount, ended.charge, ended.loss FROM turn"
    " LEFT JOIN chain AS begun ON begun.turn = turn.turn AND begun.kind = 'reserve'"
    " LEFT JOIN chain AS ended ON ended.turn = turn.turn AND ended.kind = 'end'"
)
GRANTS = (
    "SELECT key, grants, count(number) FROM account LEFT JOIN chain"
    " ON chain.account = account.account AND kind IN ('grant', 'adjust')"
    " GROUP BY account.account HAVING grants <> count(number) OR grants = 0"
)
OPEN = (
    "SELECT request_id, coalesce(under, epoch) FROM turn JOIN epoch USING (epoch)"
    " WHERE state = 'open'"
)
LAST_GATEWAY = "SELECT coalesce(max(epoch), 0) FROM epoch WHERE under IS NULL"
SETTLED = (
    "SELECT request_id, reserved, charged, billed, basis,"
    " input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,"
    " input, cached_input, cache_write, output, reasoning"
    " FROM turn JOIN price USING (price) WHERE state = 'settled'"
)
OBJECTS = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"


@dataclass(frozen=True, slots=True)
class Fault:
    """An invariant that does not hold, and the row that shows it."""

    invariant: str
    row: str
    message: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.row}: {self.message}"


def verify(connection: sqlite3.Connection) -> list[Fault]:
    """What is wrong, or nothing. A read-only connection will do."""
    connection.execute("BEGIN")
    try:
        return [
            *_file(connection),
            *_schema(connection),
            *_chains(connection),
            *_grants(connection),
            *_sums(connection),
            *_open_turns(connection),
            *_charges(connection),
        ]
    finally:
        roll_back(connection)


def _file(connection: sqlite3.Connection) -> Iterator[Fault]:
    for (message,) in connection.execute("PRAGMA quick_check"):
        if message != "ok":
            yield Fault("file", "database", message)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Fault("file", f"{table} {row}", f"refers to a row of {parent} that is not there")


def _schema(connection: sqlite3.Connection) -> Iterator[Fault]:
    """A rule that was dropped or weakened is a fault, even if nothing has come of it yet."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        make_tables(fresh)
        wanted = {(kind, name): sql for kind, name, sql in fresh.execute(OBJECTS)}
    finally:
        fresh.close()
    found = {(kind, name): sql for kind, name, sql in connection.execute(OBJECTS)}
    for kind, name in sorted(wanted.keys() | found.keys()):
        if wanted.get((kind, name)) != found.get((kind, name)):
            yield Fault("schema", f"{kind} {name}", "is not as this version made it")


def _chains(connection: sqlite3.Connection) -> Iterator[Fault]:
    """I-B13, and I-B6 at every link."""
    at, tail = None, Tail()
    for account, key, unlimited, number, *rest in connection.execute(CHAINS):
        if account != at:
            at, tail = account, Tail()
        row = f"link {number} of key {key}"
        wanted, tail = follow(tail, key, Link(*rest[:6])), Tail(number, *rest[6:])
        if wanted.number != number:
            yield Fault("I-B13", row, f"link {wanted.number} is missing before it")
        elif wanted[1:4] != tail[1:4]:
            yield Fault("I-B1", row, "its figures do not follow from the link before it")
        elif wanted != tail:
            yield Fault("I-B13", row, "its hash does not fit it: it, or one before it, was changed")
        if tail.available < 0 and not unlimited:
            yield Fault("I-B6", row, f"{-tail.available} nano-USD more than was granted")


def _grants(connection: sqlite3.Connection) -> Iterator[Fault]:
    """I-B13 for a chain's last links: those of turns are missed by `_sums`."""
    for key, wanted, found in connection.execute(GRANTS):
        yield Fault(
            "I-B13", f"key {key}", f"{wanted} grants and adjustments were made, {found} are there"
        )


def _sums(connection: sqlite3.Connection) -> Iterator[Fault]:
    """I-B1: a turn's links are its reservation, then an end that charges and releases all of it."""
    for request_id, state, reserved, charged, loss, begun, *ended in connection.execute(SUMS):
        row = f"turn {request_id}"
        if begun != reserved:
            yield Fault("I-B1", row, f"reserved {reserved}, its chain says {begun}")
        if state == "open" and ended != [None, None, None]:
            yield Fault("I-B1", row, "it is open and its chain has its end")
        if state != "open" and ended != [reserved, charged, loss]:
            yield Fault(
                "I-B1", row, f"it ends with {charged} of {reserved} charged, {loss} lost; its chain"
                " says {1} of {0}, {2}".format(*ended),
            )  # fmt: skip


def _open_turns(connection: sqlite3.Connection) -> Iterator[Fault]:
    """I-B3: an open turn has a living gateway, the last one that began, or a worker of it."""
    turns = connection.execute(OPEN).fetchall()
    (epoch,) = connection.execute(LAST_GATEWAY).fetchone()
    if turns and not _gateway_runs(connection):
        epoch += 1
    for request_id, its_epoch in turns:
        if its_epoch < epoch:
            yield Fault(
                "I-B3",
                f"turn {request_id}",
                "it is open and its gateway is gone; the next `latchway serve` refunds it",
            )


def _gateway_runs(connection: sqlite3.Connection) -> bool:
    (path,) = connection.execute("SELECT file FROM pragma_database_list LIMIT 1").fetchone()
    return path != "" and owned(Path(path))


def _charges(connection: sqlite3.Connection) -> Iterator[Fault]:
    """I-B2 and I-B8: who was charged, for which attempt, and the very amount again."""
    for request_id, reserved, charged, billed, basis, *figures in connection.execute(SETTLED):
        row = f"turn {request_id}"
        if charged > 0 and billed is None:
            yield Fault("I-B2", row, "it was charged for no attempt")
        if basis == "none" or figures[0] is None:
            yield Fault("I-B8", row, "it is settled without a usage")
            continue
        wanted = min(charge(Usage(*figures[:5]), Price(*figures[5:])), reserved)
        if wanted != charged:
            yield Fault("I-B8", row, f"its usage costs {wanted} nano-USD, it was charged {charged}")
