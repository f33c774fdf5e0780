"""What a killed gateway left open is refunded before the first new turn, and gets its record."""

from __future__ import annotations

import pytest

from latchway.ledger import recovery
from latchway.ledger.recovery import iso, recover, recover_epoch
from latchway.ledger.sqlite import Book
from latchway.ledger.verify import verify
from latchway.log import store
from ledger.parts import NOW_MS, add_key, closing, entries, figures, in_memory, opening, record

DAY_MS = 86_400_000


@pytest.fixture
def book() -> Book:
    book = in_memory()
    add_key(book)
    return book


def killed_and_restarted(book: Book) -> int:
    """As a new process would find it; the number of turns that were refunded."""
    with book.transaction():
        book.begin_epoch("host/2")
    return recover(book, DAY_MS)


def test_an_open_turn_is_refunded_and_logged(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
    assert killed_and_restarted(book) == 1
    assert entries(book) == [("reserve", 100), ("release", 100)]
    assert figures(book) == (1000, 0, 0)
    assert verify(book.connection) == []
    found = store.find(book.connection, "req_1")
    assert found is not None
    assert (found["outcome"], found["code"], found["replayed"]) == (
        "failed",
        "gateway_killed",
        False,
    )
    assert found["served_by"] == "host/1"
    assert found["billing"] == {
        "currency": "USD",
        "reserved": "0.000000100",
        "charged": "0.000000000",
        "refunded": "0.000000100",
        "usage_source": "none",
        "operator_loss": "0.000000000",
    }


def test_the_record_has_both_attempts(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
        book.record_replay("req_1", "b/m")
    killed_and_restarted(book)
    found = store.find(book.connection, "req_1")
    assert found is not None
    seen = [
        (attempt["number"], attempt["route"], attempt["verdict"], attempt["failure"])
        for attempt in found["attempts"]
    ]
    assert seen == [(1, "a/m", "replay", None), (2, "b/m", None, "gateway_stopped")]


def test_a_turn_that_was_settled_but_not_logged_keeps_its_charge(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
        book.close(closing())
    assert killed_and_restarted(book) == 0
    found = store.find(book.connection, "resp_of_req_1")
    assert found is not None
    assert found["billing"]["charged"] == "0.000000040"
    assert found["billing"]["usage_source"] == "upstream"


def test_a_record_that_is_there_stays(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
        book.close(closing())
        store.put(book.connection, record())
    killed_and_restarted(book)
    assert store.find(book.connection, "req_1") == record()


def test_records_that_were_deleted_on_purpose_do_not_return(book: Book) -> None:
    with book.transaction():
        book.reserve(opening(started_at_ms=NOW_MS - 2 * DAY_MS))
        book.close(closing())
    killed_and_restarted(book)
    assert store.find(book.connection, "req_1") is None


def test_turns_of_this_process_are_left_alone(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
    assert recover(book, DAY_MS) == 0
    assert figures(book) == (1000, 0, 100)
    assert store.find(book.connection, "req_1") is None


def test_of_one_worker_that_is_gone_and_of_no_other(book: Book) -> None:
    with book.transaction():
        gone, alive = (book.add_epoch(f"host/{pid}", book.epoch) for pid in (2, 3))
        for name, epoch in (("req_1", gone), ("req_2", alive), ("req_3", gone), ("req_4", None)):
            book.reserve(opening(name), epoch)
        book.close(closing("req_3"))
        assert recover_epoch(book, gone, DAY_MS) == 1
    assert figures(book) == (1000, 0, 200)
    assert entries(book)[-1] == ("adjust", 40), "nobody was told of req_3's end"
    for name, served_by in (("req_1", "host/2"), ("req_3", "host/2"), ("req_2", None)):
        found = store.find(book.connection, name)
        assert (found and found["served_by"]) == served_by
    assert store.find(book.connection, "req_4") is None


def test_what_was_given_back_was_not_charged(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
        book.close(closing(loss=3, loss_reason="failed_attempt"))
        book.give_back("req_1")
    killed_and_restarted(book)
    found = store.find(book.connection, "req_1")
    assert found is not None
    billing = found["billing"]
    assert (billing["charged"], billing["refunded"]) == ("0.000000000", "0.000000100")
    assert billing["operator_loss"] == "0.000000043"


def test_a_turn_of_long_ago_that_was_open_is_logged_too(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "UNLOGGED_AMONG", 1)
    with book.transaction():
        for number in range(1, 5):
            book.reserve(opening(f"req_{number}"))
            if number != 2:
                book.close(closing(f"req_{number}", made=()))
    killed_and_restarted(book)
    logged = [found["request_id"] for found in store.newest(book.connection, 10)]
    assert logged[::-1] == ["req_2", "req_3", "req_4"], "since the oldest that was open"


def test_it_can_be_killed_itself(book: Book) -> None:
    with book.transaction():
        book.reserve(opening())
    assert [killed_and_restarted(book) for _ in range(3)] == [1, 0, 0]
    assert len(entries(book)) == 2


def test_times_sort_as_text() -> None:
    assert iso(NOW_MS) == "2026-11-30T00:53:20.000Z"
    assert iso(999) == "1970-01-01T00:00:00.999Z"
    assert iso(NOW_MS) < iso(NOW_MS + 1) < iso(NOW_MS + 1000)
