"""Whatever is done to the rows behind the database's back is found, and the row named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from latchway.ledger.database import Lock, open_reader, open_writer
from latchway.ledger.verify import Fault, verify
from ledger.parts import add_key, book_of, closing, opening, refund


def lived_in(path: Path) -> None:
    """A database with a settled turn, a refunded one and an adjusted one; nothing open."""
    connection = open_writer(path)
    book = book_of(connection)
    add_key(book)
    add_key(book, "bob", 500)
    with book.transaction():
        for name in ("req_1", "req_2", "req_3"):
            book.reserve(opening(name))
        book.record_replay("req_1", "b/m")
        book.close(closing("req_1", billed_attempt=2, loss=3, loss_reason="failed_attempt"))
        book.close(refund("req_2"))
        book.close(closing("req_3"))
        book.give_back("req_3")
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "latchway.db"
    lived_in(path)
    return path


def faults(path: Path) -> list[str]:
    reader = open_reader(path)
    try:
        return [str(fault) for fault in verify(reader)]
    finally:
        reader.close()


def tamper(path: Path, statement: str) -> None:
    """Change the database as somebody with the file and enough patience would: the triggers are
    taken away, and put back afterwards."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    kept = triggers.fetchall()
    for name, _ in kept:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA ignore_check_constraints=ON")
    assert connection.execute(statement).rowcount == 1, "it must change something"
    for _, sql in kept:
        connection.execute(sql)
    connection.close()


def test_sound_books_have_no_fault(path: Path) -> None:
    assert faults(path) == []


TAMPERED = [
    # statement, what is said
    ("UPDATE chain SET charge = 41 WHERE kind = 'end' AND turn = 1", "I-B1: link 5 of key al"),
    ("UPDATE chain SET loss = 0 WHERE kind = 'end' AND turn = 1", "I-B13: link 5 of key al"),
    ("UPDATE chain SET loss = 0 WHERE kind = 'end' AND turn = 1", "its chain says 40 of 100, 0"),
    ("UPDATE chain SET at_ms = at_ms + 1 WHERE account = 1 AND number = 4", "I-B13: link 4 of"),
    ("UPDATE chain SET hash = zeroblob(32) WHERE account = 1 AND number = 4", "I-B13: link 4 of"),
    ("UPDATE chain SET granted = 9000 WHERE account = 2", "I-B1: link 1 of key bob"),
    ("UPDATE chain SET amount = 9000, granted = 9000 WHERE account = 2", "I-B13: link 1 of key"),
    ("DELETE FROM chain WHERE account = 1 AND number = 4", "link 4 is missing before it"),
    ("DELETE FROM chain WHERE account = 2", "I-B13: key bob: 1 grants and adjust"),
    ("DELETE FROM chain WHERE kind = 'adjust'", "I-B13: key alice: 2 grants"),
    ("DELETE FROM chain WHERE kind = 'end' AND turn = 3", "I-B1: turn req_3"),
    ("DELETE FROM chain WHERE kind = 'reserve' AND turn = 3", "I-B1: turn req_3: reserved 100"),
    ("UPDATE turn SET charged = 50 WHERE turn = 1", "I-B1: turn req_1: it ends with 50 of 100"),
    ("UPDATE turn SET input_tokens = 11 WHERE turn = 1", "I-B8: turn req_1: its usage costs 42"),
    ("UPDATE turn SET input_tokens = NULL, output_tokens = NULL WHERE turn = 1", "without a usage"),
    ("UPDATE turn SET billed = NULL WHERE turn = 1", "I-B2: turn req_1"),
    ("UPDATE price SET output = 5000000", "I-B8: turn req_1"),
    ("UPDATE turn SET state = 'open', basis = NULL, closed_ms = NULL WHERE turn = 2",
     "I-B3: turn req_2"),
    ("UPDATE turn SET account = 77 WHERE turn = 2", "refers to a row of account"),
    ("UPDATE turn SET request_id = 'req_9' WHERE turn = 2", "I-B13: link 3 of key alice"),
    ("UPDATE account SET key = 'eve' WHERE account = 2", "I-B13: link 1 of key eve"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "said"), TAMPERED)
def test_tampering_is_found(path: Path, statement: str, said: str) -> None:
    tamper(path, statement)
    assert said in "\n".join(faults(path))


@pytest.mark.parametrize("statement", [
    "DROP TRIGGER chain_kept",
    "DROP INDEX turn_open",
    "CREATE TRIGGER more AFTER INSERT ON log BEGIN SELECT 1; END",
])  # fmt: skip
def test_a_rule_that_was_taken_away_is_found(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.close()
    (fault,) = faults(path)
    assert fault.startswith("schema: ")


def test_an_overdrawn_account_is_found(path: Path) -> None:
    tamper(path, "UPDATE account SET unlimited = 1 WHERE account = 2")
    connection = open_writer(path)
    book = book_of(connection)
    with book.transaction():
        book.reserve(opening("req_4", key="bob", amount=600))
        book.close(refund("req_4"))
    connection.close()
    tamper(path, "UPDATE account SET unlimited = 0 WHERE account = 2")
    assert faults(path) == ["I-B6: link 2 of key bob: 100 nano-USD more than was granted"]


def test_an_open_turn_needs_a_living_gateway(path: Path) -> None:
    connection = open_writer(path)
    book = book_of(connection)
    with book.transaction():
        book.reserve(opening("req_4"))
    lock = Lock(path)
    assert lock.take()
    assert faults(path) == [], "its gateway runs"
    with book.transaction():
        book.begin_epoch("host/2")
    assert "I-B3: turn req_4" in faults(path)[0], "another one runs"
    lock.release()
    connection.close()
    assert "I-B3: turn req_4" in faults(path)[0], "none runs"


def test_the_workers_of_one_gateway_are_alive_together(path: Path) -> None:
    connection = open_writer(path)
    book = book_of(connection)
    lock = Lock(path)
    assert lock.take()
    with book.transaction():
        book.reserve(opening("req_4"))
        workers = [book.add_epoch(f"host/{pid}", book.epoch) for pid in (2, 3)]
        for number, epoch in enumerate(workers, 5):
            book.reserve(opening(f"req_{number}"), epoch)
    assert faults(path) == [], "the gateway's own turn, and those of both workers"
    with book.transaction():
        book.begin_epoch("host/4")
    said = [fault.partition(":")[2].partition(":")[0] for fault in faults(path)]
    assert said == [" turn req_4", " turn req_5", " turn req_6"], "another one runs"
    lock.release()
    connection.close()


def test_a_fault_reads_as_a_line() -> None:
    assert str(Fault("I-B1", "turn x", "is wrong")) == "I-B1: turn x: is wrong"
