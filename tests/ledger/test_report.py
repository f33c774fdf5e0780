"""What the commands and the admin API show: the interface's words, amounts with nine places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import report
from latchway.ledger.database import LedgerFault, open_writer
from latchway.ledger.sqlite import Book
from latchway.log import store
from ledger.parts import add_key, book_of, closing, in_memory, opening, record, refund


@pytest.fixture
def book() -> Book:
    book = in_memory()
    add_key(book)
    add_key(book, "root", 0, owner="ops", unlimited=True)
    with book.transaction():
        book.reserve(opening("req_1"))
        book.reserve(opening("req_2", key="root"))
        book.reserve(opening("req_3"))
        book.close(closing("req_1", loss=7, loss_reason="above_reservation"))
        book.close(closing("req_2"))
    return book


def test_balances(book: Book) -> None:
    alice, root = report.ledger(book.connection)["accounts"]
    assert alice == {
        "key": "alice",
        "owner": "alice",
        "granted": "0.000001000",
        "charged": "0.000000040",
        "reserved": "0.000000100",
        "available": "0.000000860",
    }
    assert (root["owner"], root["granted"], root["available"]) == (
        "ops",
        "0.000000040",
        "0.000000000",
    )


def test_entries_in_order(book: Book) -> None:
    shown = report.ledger(book.connection, "alice")["entries"]
    assert [(entry["turn"], entry["kind"], entry["amount"]) for entry in shown] == [
        (None, "grant", "0.000001000"),
        ("req_1", "reserve", "0.000000100"),
        ("req_3", "reserve", "0.000000100"),
        ("req_1", "charge", "0.000000040"),
        ("req_1", "release", "0.000000060"),
        ("req_1", "loss", "0.000000007"),
    ]
    assert {entry["key"] for entry in shown} == {"alice"}
    assert shown[0]["at"].endswith("Z")


def test_losses_hold_what_was_given_back(book: Book) -> None:
    assert report.ledger(book.connection)["losses"] == "0.000000007"
    with book.transaction():
        book.give_back("req_2")
    assert report.ledger(book.connection)["losses"] == "0.000000047"
    assert report.ledger(book.connection, "alice")["losses"] == "0.000000007"


def test_every_turn_adds_up_as_it_is_shown(book: Book) -> None:
    with book.transaction():
        book.close(refund("req_3"))
    sums: dict[str, dict[str, int]] = {}
    for entry in report.ledger(book.connection)["entries"]:
        if entry["turn"] is not None:
            kinds = sums.setdefault(entry["turn"], {"reserve": 0, "charge": 0, "release": 0})
            kinds[entry["kind"]] = int(entry["amount"].replace(".", ""))
    assert len(sums) == 3
    assert all(s["reserve"] == s["charge"] + s["release"] for s in sums.values())


def test_keys_without_their_secrets(book: Book) -> None:
    book.connection.execute("UPDATE account SET revoked_ms = 5 WHERE key = 'alice'")
    alice, root = report.keys(book.connection)
    assert (alice["key"], alice["revoked"], alice["unlimited"]) == ("alice", True, False)
    assert (root["key"], root["revoked"], root["unlimited"]) == ("root", False, True)
    assert not any(isinstance(value, bytes) for value in alice.values())


class Unwritten:
    """A writer that still holds a record."""

    healthy = True

    def find(self, request_or_response_id: str) -> dict[str, Any] | None:
        return record("req_2") if request_or_response_id == "req_2" else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "latchway.db"
    connection = open_writer(path)
    book = book_of(connection)
    add_key(book)
    with book.transaction():
        store.put(connection, record())
    connection.close()
    return path


def test_a_reader_finds_what_is_written_and_what_is_about_to_be(path: Path) -> None:
    reader = report.Reader(path, Unwritten())
    assert reader.request("req_1", None) == record()
    assert reader.request("resp_of_req_1", "alice") == record()
    assert reader.request("req_1", "bob") is None
    assert reader.request("req_2", "alice") == record("req_2")
    assert reader.request("req_2", "bob") is None
    assert reader.requests(10) == [record()]
    (alice,) = reader.keys()
    assert alice["key"] == "alice"
    assert reader.ledger()["losses"] == "0.000000000"
    reader.close()


def test_what_cannot_be_read_is_told_as_such(path: Path) -> None:
    reader = report.Reader(path)
    reader.close()
    for ask in (reader.keys, reader.ledger, lambda: reader.requests(1)):
        with pytest.raises(LedgerFault, match="cannot read the database"):
            ask()


def test_health_is_reading_and_writing(path: Path) -> None:
    writer = Unwritten()
    reader = report.Reader(path, writer)
    assert reader.healthy()
    writer.healthy = False
    assert not reader.healthy()
    reader.close()
    alone = report.Reader(path)
    assert alone.healthy()
    alone.close()
    assert not alone.healthy()
