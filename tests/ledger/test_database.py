"""Who may open the database, how it is made, and what is said when it cannot be used."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from latchway.ledger.database import (
    SCHEMA_VERSION,
    LedgerFault,
    Lock,
    beside,
    make_tables,
    open_reader,
    open_writer,
    owned,
    roll_back,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


def test_a_commit_survives_the_loss_of_power(path: Path) -> None:
    connection = open_writer(path)
    pragmas = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in (
            "journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout",
            "user_version",
        )
    }  # fmt: skip
    connection.close()
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "wal_autocheckpoint": 4000,
        "busy_timeout": 0,
        "user_version": SCHEMA_VERSION,
    }


def test_the_files_are_for_their_owner_alone(path: Path) -> None:
    Lock(path).take()
    connection = open_writer(path)
    connection.execute("INSERT INTO epoch VALUES (1, 'host/1', 1, NULL)")
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    connection.close()
    assert set(modes) == {f"latchway.db{end}" for end in ("", "-wal", "-shm", ".lock")}
    assert set(modes.values()) == {0o600}


def test_one_holds_the_lock(path: Path) -> None:
    first, second = Lock(path), Lock(path)
    assert not owned(path)
    assert first.take()
    assert not second.take()
    assert owned(path)
    first.release()
    assert second.take()
    second.release()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "latchway.db"
    for attempt in (lambda: Lock(path).take(), lambda: open_writer(path)):
        with pytest.raises(LedgerFault, match="cannot open"):
            attempt()


def test_a_reader_needs_a_database(path: Path) -> None:
    with pytest.raises(LedgerFault, match="no database at"):
        open_reader(path)
    assert not path.exists(), "reading makes nothing"


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_text("not a database, but long enough to be looked at as if it were one" * 100)
    for attempt in (open_reader, open_writer):
        with pytest.raises(LedgerFault, match="not a database"):
            attempt(path)


def test_a_file_that_cannot_be_opened_is_not_said_to_be_missing(path: Path) -> None:
    path.mkdir()
    for attempt in (open_reader, open_writer):
        with pytest.raises(LedgerFault, match=r"cannot open .*Is a directory"):
            attempt(path)


def test_another_version_is_not_touched(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    for attempt in (open_reader, open_writer):
        with pytest.raises(LedgerFault, match=r"schema 99, .* another file"):
            attempt(path)


def test_a_reader_cannot_write(path: Path) -> None:
    open_writer(path).close()
    reader = open_reader(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("INSERT INTO epoch VALUES (1, 'host/1', 1, NULL)")
    reader.close()


def test_a_reader_sees_what_was_committed_beside_it(path: Path) -> None:
    writer = open_writer(path)
    reader = open_reader(path)
    writer.execute("INSERT INTO epoch VALUES (1, 'host/1', 1, NULL)")
    assert reader.execute("SELECT count(*) FROM epoch").fetchone() == (1,)
    reader.close()
    writer.close()


def test_a_name_with_a_question_mark_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20d.db"
    open_writer(path).close()
    open_reader(path).close()
    assert path.exists()
    assert beside(path, ".lock").name == "a?b#c%20d.db.lock"


def test_tables_are_made_once(path: Path) -> None:
    connection = open_writer(path)
    before = connection.total_changes
    make_tables(connection)
    assert connection.total_changes == before
    connection.close()


def test_rolling_back_what_is_already_rolled_back() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    roll_back(connection)
    connection.execute("BEGIN")
    roll_back(connection)
    assert not connection.in_transaction
    connection.close()
    roll_back(connection)
