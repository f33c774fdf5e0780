"""`latchway ledger` shows the books; `verify` computes them anew."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from command import configured, latchway


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    configured(tmp_path)
    for name, credit in (("alice", "5"), ("bob", "1")):
        assert latchway("keys", "create", name, "--credit", credit, folder=tmp_path).returncode == 0
    return tmp_path


def test_accounts_and_entries_as_json(folder: Path) -> None:
    books = json.loads(latchway("ledger", "--json", folder=folder).stdout)

    alice = next(row for row in books["accounts"] if row["key"] == "alice")
    assert alice["granted"] == alice["available"] == "5.000000000"
    assert alice["charged"] == alice["reserved"] == "0.000000000"
    assert {(entry["key"], entry["kind"]) for entry in books["entries"]} == {
        ("alice", "grant"),
        ("bob", "grant"),
    }
    assert books["losses"] == "0.000000000"


def test_one_key_alone(folder: Path) -> None:
    books = json.loads(latchway("ledger", "--key", "bob", "--json", folder=folder).stdout)

    assert {row["key"] for row in books["accounts"] + books["entries"]} == {"bob"}


def test_a_key_that_is_not_there_exits_with_1(folder: Path) -> None:
    done = latchway("ledger", "--key", "carol", folder=folder)

    assert done.returncode == 1
    assert "'carol'" in done.stderr


def test_tables_for_people(folder: Path) -> None:
    shown = latchway("ledger", folder=folder).stdout

    assert "borne by the operator: 0.000000000 USD" in shown
    assert shown.count("grant") >= 2


def test_sound_books_are_verified(folder: Path) -> None:
    done = latchway("ledger", "verify", folder=folder)

    assert done.returncode == 0
    assert "every invariant holds" in done.stderr


def test_books_that_were_changed_are_found_out(folder: Path) -> None:
    connection = sqlite3.connect(folder / "latchway.db")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute("UPDATE chain SET amount = amount + 1")
    connection.commit()
    connection.close()

    done = latchway("ledger", "verify", folder=folder)
    assert done.returncode == 1
    assert "alice" in done.stdout
    assert json.loads(latchway("ledger", "verify", "--json", folder=folder).stdout)["failed"]
