"""The book's steps, and the database that refuses what no step may do."""

from __future__ import annotations

import sqlite3

import pytest

from latchway.ledger.database import LedgerFault
from latchway.ledger.sqlite import Book
from latchway.ledger.verify import verify
from latchway.ports import Granted, Refused
from ledger.parts import (
    COST,
    RESERVED,
    add_key,
    closing,
    entries,
    figures,
    in_memory,
    opening,
    refund,
)


@pytest.fixture
def book() -> Book:
    """With a key that has 1000 nano-USD."""
    book = in_memory()
    add_key(book)
    return book


@pytest.fixture
def opened(book: Book) -> Book:
    with book.transaction():
        assert book.reserve(opening()) == Granted()
    return book


@pytest.fixture
def closed(opened: Book) -> Book:
    with opened.transaction():
        opened.close(closing())
    return opened


# ---- the steps


def test_a_reservation_is_put_aside(opened: Book) -> None:
    assert figures(opened) == (1000, 0, RESERVED)
    assert entries(opened) == [("reserve", RESERVED)]


def test_a_settled_turn_is_charged_and_the_rest_returns(closed: Book) -> None:
    assert figures(closed) == (1000, COST, 0)
    assert entries(closed) == [("reserve", 100), ("charge", 40), ("release", 60)]
    assert verify(closed.connection) == []


ENDS = [
    # charge, loss, entries after the reservation
    (0, 0, [("release", 100)]),
    (100, 0, [("charge", 100)]),
    (100, 7, [("charge", 100), ("loss", 7)]),
    (0, 7, [("release", 100), ("loss", 7)]),
]


@pytest.mark.parametrize(("charge", "loss", "written"), ENDS)
def test_every_end_adds_up(
    opened: Book, charge: int, loss: int, written: list[tuple[str, int]]
) -> None:
    usage = {"input_tokens": charge // 2, "output_tokens": 0}
    with opened.transaction():
        opened.close(closing(charge=charge, loss=loss, usage=usage))
    assert entries(opened)[1:] == written
    assert figures(opened) == (1000, charge, 0)
    assert verify(opened.connection) == []


def test_a_free_turn_has_its_reservation_and_its_end(book: Book) -> None:
    with book.transaction():
        book.reserve(opening(amount=0))
        book.close(refund())
    assert entries(book) == [("reserve", 0), ("release", 0)]
    assert verify(book.connection) == []


def test_too_little_balance_leaves_nothing(book: Book) -> None:
    with book.transaction():
        assert book.reserve(opening(amount=1001)) == Refused(needed=1001, available=1000)
    assert entries(book) == []
    assert book.connection.execute("SELECT count(*) FROM turn").fetchone() == (0,)


def test_an_unlimited_key_is_not_refused(book: Book) -> None:
    add_key(book, "root", 0, unlimited=True)
    with book.transaction():
        assert book.reserve(opening(key="root", amount=10**12)) == Granted()
        book.close(closing())
    assert figures(book, "root") == (0, COST, 0)
    assert verify(book.connection) == []


def test_the_first_outcome_stands(closed: Book) -> None:
    with closed.transaction():
        assert closed.close(refund(loss=5)) == Granted()
        assert closed.close(closing(charge=100)) == Granted()
    assert figures(closed) == (1000, COST, 0)
    assert len(entries(closed)) == 3


def test_a_refund_stands_too(opened: Book) -> None:
    with opened.transaction():
        opened.close(refund())
        opened.close(closing())
    assert figures(opened) == (1000, 0, 0)


def test_a_replay_moves_no_money(opened: Book) -> None:
    with opened.transaction():
        opened.record_replay("req_1", "b/m")
        opened.close(closing(billed_attempt=2, route="b/m"))
    row = "SELECT route, second_route, billed FROM turn"
    assert opened.connection.execute(row).fetchone() == ("a/m", "b/m", 2)
    assert entries(opened) == [("reserve", 100), ("charge", 40), ("release", 60)]


def test_a_late_settlement_is_given_back_once(closed: Book) -> None:
    for _ in range(2):
        with closed.transaction():
            closed.give_back("req_1")
    assert entries(closed)[-1] == ("adjust", COST)
    assert figures(closed) == (1000, 0, 0)
    assert verify(closed.connection) == []


def test_a_refund_has_nothing_to_give_back(opened: Book) -> None:
    with opened.transaction():
        opened.close(refund())
        opened.give_back("req_1")
    assert entries(opened) == [("reserve", 100), ("release", 100)]


def test_a_price_is_kept_by_the_turn(opened: Book) -> None:
    with opened.transaction():
        opened.reserve(opening("req_2"))
        opened.reserve(opening("req_3", model="other"))
    rows = opened.connection.execute("SELECT request_id, price FROM turn ORDER BY turn")
    assert rows.fetchall() == [("req_1", 1), ("req_2", 1), ("req_3", 2)]


def test_what_is_unknown_is_a_fault(book: Book) -> None:
    with pytest.raises(LedgerFault, match="no key"):
        book.reserve(opening(key="nobody"))
    for step in (lambda: book.close(closing()), lambda: book.record_replay("req_1", "b/m")):
        with pytest.raises(LedgerFault, match="no turn"):
            step()


def test_a_rolled_back_step_is_forgotten(book: Book) -> None:
    def reserve_and_fail() -> None:
        with book.transaction():
            book.reserve(opening())
            book.close(closing("req_2"))

    with pytest.raises(LedgerFault):
        reserve_and_fail()
    with book.transaction():
        book.reserve(opening())
        book.close(closing())
    assert figures(book) == (1000, COST, 0)
    assert verify(book.connection) == []


# ---- what the database itself refuses, whoever asks

REFUSED = [
    # why, on an open or a closed turn with two attempts or only its first, statement, message
    ("a third attempt", "open",
     "UPDATE turn SET second_route = 'c/m', second_began_ms = 1",
     "a turn is replayed once"),
    ("the same route twice", "first",
     "UPDATE turn SET second_route = 'a/m', second_began_ms = 1",
     "CHECK constraint failed: second_route <> route"),
    ("another first route", "first", "UPDATE turn SET route = 'c/m'", "a turn keeps what"),
    ("billing a third attempt", "open", "UPDATE turn SET billed = 3", "CHECK constraint failed"),
    ("an attempt billed that was not made", "first", "UPDATE turn SET billed = 2",
     "CHECK constraint failed"),
    ("a second billed attempt", "closed", "UPDATE turn SET billed = 2", "a closed turn is final"),
    ("a replay of a closed turn", "closed first",
     "UPDATE turn SET second_route = 'c/m', second_began_ms = 1", "a closed turn is final"),
    ("another amount", "closed", "UPDATE turn SET charged = 50", "a closed turn is final"),
    ("reopening", "closed",
     "UPDATE turn SET state = 'open', charged = 0, basis = NULL, closed_ms = NULL",
     "a closed turn is final"),
    ("closing by no link", "open",
     "UPDATE turn SET state = 'void', basis = 'none', closed_ms = 1", "adds up"),
    ("charging above the reservation", "open", "UPDATE turn SET charged = 101",
     "CHECK constraint failed"),
    ("deleting a turn", "closed", "DELETE FROM turn", "a turn is never deleted"),
    ("opening a turn closed", "closed",
     "INSERT INTO turn (request_id, account, epoch, model, price, reserved, opened_ms, route,"
     " state, basis, closed_ms) VALUES ('x', 1, 1, 'm', 1, 0, 1, 'a', 'void', 'none', 1)",
     "a turn begins open"),
    ("another reservation", "open", "UPDATE turn SET reserved = 1", "a turn keeps what"),
    ("editing a link", "open", "UPDATE chain SET amount = 1", "never changed"),
    ("deleting a link", "open", "DELETE FROM chain", "never deleted"),
    ("a second reservation", "open",
     "INSERT INTO chain VALUES (1, 3, 1, 'reserve', 100, 0, 0, 1000, 0, 200, 1, zeroblob(32))",
     "UNIQUE constraint failed: chain.turn, chain.kind"),
    ("a second end", "closed",
     "INSERT INTO chain VALUES (1, 4, 1, 'end', 100, 0, 0, 1000, 40, -100, 1, zeroblob(32))",
     "begins and ends with an open turn"),
    ("an end of another amount", "open",
     "INSERT INTO chain VALUES (1, 3, 1, 'end', 99, 0, 0, 1000, 0, 1, 1, zeroblob(32))",
     "begins and ends with an open turn"),
    ("an end that charges more than its amount", "open",
     "INSERT INTO chain VALUES (1, 3, 1, 'end', 100, 101, 0, 1000, 101, 0, 1, zeroblob(32))",
     "CHECK constraint failed: charge BETWEEN"),
    ("a grant that charges", "open",
     "INSERT INTO chain VALUES (1, 3, NULL, 'grant', 5, 1, 0, 1005, 1, 100, 1, zeroblob(32))",
     "CHECK constraint failed: kind = 'end'"),
    ("an unknown kind", "open",
     "INSERT INTO chain VALUES (1, 3, 1, 'gift', 0, 0, 0, 1000, 0, 100, 1, zeroblob(32))",
     "CHECK constraint failed: kind ="),
    ("an unknown basis", "open", "UPDATE turn SET basis = 'guess'",
     "CHECK constraint failed: basis ="),
    ("a gap in the chain", "open",
     "INSERT INTO chain VALUES (1, 9, NULL, 'grant', 1, 0, 0, 1001, 0, 100, 1, zeroblob(32))",
     "follows from the one before"),
    ("figures that do not follow", "open",
     "INSERT INTO chain VALUES (1, 3, NULL, 'grant', 1, 0, 0, 5000, 0, 100, 1, zeroblob(32))",
     "follows from the one before"),
    ("an account that begins with money in hand", "open",
     "INSERT INTO chain VALUES (1, 0, NULL, 'grant', 1, 0, 0, 5000, 0, 0, 1, zeroblob(32))",
     "begins with a grant"),
    ("giving back more than was charged", "closed",
     "INSERT INTO chain VALUES (1, 4, 1, 'adjust', 41, 0, 0, 1000, -1, 0, 1, zeroblob(32))",
     "gives back"),
    ("a negative amount", "open",
     "INSERT INTO chain VALUES (1, 3, NULL, 'grant', -1, 0, 0, 999, 0, 100, 1, zeroblob(32))",
     "CHECK constraint failed: amount >= 0"),
    ("changing a price", "open", "UPDATE price SET input = 1", "a price is never changed"),
    ("deleting a price", "open", "DELETE FROM price", "a price is never deleted"),
    ("deleting an account", "open", "DELETE FROM account", "an account is never deleted"),
    ("another secret", "open", "UPDATE account SET digest = zeroblob(32)", "keeps what"),
    ("another owner", "open", "UPDATE account SET owner = 'eve'", "keeps what"),
    ("no limit any more", "open", "UPDATE account SET unlimited = 1", "keeps what"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "state", "statement", "message"), REFUSED)
def test_refused(opened: Book, why: str, state: str, statement: str, message: str) -> None:
    with opened.transaction():
        if "first" not in state:
            opened.record_replay("req_1", "b/m")
        if "closed" in state:
            opened.close(closing())
    with pytest.raises(sqlite3.IntegrityError, match=message):
        opened.connection.execute(statement)


def test_more_than_was_granted_is_refused(book: Book) -> None:
    book.connection.execute("INSERT INTO price VALUES (1, 'm', 1, 1, 1, 1, 1, 1)")
    book.connection.execute(
        "INSERT INTO turn (request_id, account, epoch, model, price, reserved, opened_ms, route)"
        " VALUES ('req_1', 1, 1, 'm', 1, 1001, 1, 'a')"
    )
    with pytest.raises(sqlite3.IntegrityError, match="more than was granted"):
        book.connection.execute(
            "INSERT INTO chain VALUES"
            " (1, 2, 1, 'reserve', 1001, 0, 0, 1000, 0, 1001, 1, zeroblob(32))"
        )


def test_a_revoked_key_stays_revoked(book: Book) -> None:
    book.connection.execute("UPDATE account SET revoked_ms = 5")
    with pytest.raises(sqlite3.IntegrityError, match="stays revoked"):
        book.connection.execute("UPDATE account SET revoked_ms = NULL")


def test_a_charge_above_the_reservation_is_refused(opened: Book) -> None:
    with pytest.raises(sqlite3.IntegrityError), opened.transaction():
        opened.close(closing(charge=101))
    assert figures(opened) == (1000, 0, RESERVED)


def test_a_charge_for_no_attempt_is_refused(opened: Book) -> None:
    with pytest.raises(sqlite3.IntegrityError), opened.transaction():
        opened.close(closing(billed_attempt=None))


def test_a_request_id_is_taken_once(opened: Book) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="request_id"), opened.transaction():
        opened.reserve(opening())
