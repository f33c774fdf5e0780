"""Opening the database file: who may write, how it is made, and which shape it has.

One process writes, the one that holds the lock beside the file; every other connection is
read-only. Two writers could meet a fault of SQLite (3.7.0 to 3.51.2) that corrupts a write-ahead
log when one connection resets it under another.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

SCHEMA_VERSION = 4
SCHEMA = Path(__file__).with_name("schema.sql")

READER_WAITS_MS = 2000
"""A reader may meet the moment in which a log is recovered; it waits rather than fails."""
LOCK_SECONDS = 5.0
"""How long a start waits for the lock: a command holds it for some milliseconds."""
LOCK_TRY_SECONDS = 0.02
OPENING_WAITS_MS = 2000
"""The writer waits for such a reader while it opens. Afterwards it never waits: a turn does."""
CHECKPOINT_PAGES = 4000
"""Of the write-ahead log, 16 MiB, until they go to where they belong; a page that many commits have
changed is then written once. A turn fills about four, so SQLite's own 1000 are 250 turns."""


class LedgerFault(Exception):
    """The ledger cannot be used as asked; the message says why and what mends it."""


class Lock:
    """The right to write, held from `take` to `release`, or to the end of the process."""

    def __init__(self, database: Path) -> None:
        self._path = beside(database, ".lock")
        self._file: int | None = None

    def take(self) -> bool:
        """Take it if nobody has it. LedgerFault: the folder is not there or not ours to write."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LedgerFault(f"cannot open {self._path}: {error.strerror}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def take_lock(path: Path) -> Lock:
    """The right to write to this database. LedgerFault: a gateway has it."""
    lock = Lock(path)
    until = time.monotonic() + LOCK_SECONDS
    while not lock.take():
        if time.monotonic() > until:
            raise LedgerFault(f"another gateway runs on {path}: stop it, or use another database")
        time.sleep(LOCK_TRY_SECONDS)
    return lock


def owned(database: Path) -> bool:
    """Does a gateway run on this database at this moment?"""
    lock = Lock(database)
    if not lock.take():
        return True
    lock.release()
    return False


def beside(database: Path, suffix: str) -> Path:
    """The file that goes with the database: `latchway.db.lock`, `latchway.db.sock`."""
    return database.with_name(database.name + suffix)


def open_writer(
    path: Path, factory: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    """The only connection that writes; the caller holds the Lock. LedgerFault: it cannot be used.

    A commit survives the loss of power (`synchronous=FULL`). The file is made readable for its
    owner alone.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, factory=factory
        )
    except (OSError, sqlite3.Error) as error:
        raise LedgerFault(f"cannot open the database {path}: {error}") from None
    try:
        _set_up(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise LedgerFault(f"cannot use the database {path}: {error}") from None
    except LedgerFault:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA busy_timeout={OPENING_WAITS_MS}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    make_tables(connection, str(path))
    connection.execute("PRAGMA busy_timeout=0")


def make_tables(connection: sqlite3.Connection, name: str = "database") -> None:
    """Make the tables of an empty database. LedgerFault: it has another version's."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == SCHEMA_VERSION:
        return
    if version != 0:
        raise LedgerFault(_other(name, version))
    connection.executescript(
        f"BEGIN IMMEDIATE; {SCHEMA.read_text(encoding='utf-8')}"
        f"PRAGMA user_version={SCHEMA_VERSION}; COMMIT;"
    )


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, with or without a gateway on the file. LedgerFault: none.

    A file may be damaged where nobody has looked yet: ask it `readable`.
    """
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error:
        raise LedgerFault(_why_closed(path)) from None
    with ExitStack() as unless_good:
        unless_good.callback(connection.close)
        with readable(path):
            connection.execute(f"PRAGMA busy_timeout={READER_WAITS_MS}")
            connection.execute("PRAGMA query_only=ON")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            raise LedgerFault(_other(str(path), version))
        unless_good.pop_all()
    return connection


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """LedgerFault, in place of what SQLite raises: what is asked within cannot be read."""
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerFault(f"cannot read the database {path}: {error}") from None


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A reader for a few questions. LedgerFault: they cannot be answered."""
    with closing(open_reader(path)) as connection, readable(path):
        yield connection


def _why_closed(path: Path) -> str:
    """SQLite does not say whether a file is missing or may not be opened."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return f"no database at {path}: `latchway serve` or `latchway keys create` makes it"
    except OSError as error:
        return f"cannot open the database {path}: {error.strerror}"
    return f"cannot open the database {path}"


def _other(name: str, version: int) -> str:
    return (
        f"{name} has schema {version}, this latchway knows {SCHEMA_VERSION}: use the latchway"
        " that made it, or another file"
    )


def roll_back(connection: sqlite3.Connection) -> None:
    """Leave the transaction, if there still is one: a full disk has ended it already."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
