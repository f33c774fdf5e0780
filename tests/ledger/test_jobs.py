"""A job's work, what is owed if it fails, and what makes up for it if it came too late."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.ledger import jobs
from latchway.ledger.committer import Job, Work
from latchway.ledger.sqlite import Book
from latchway.ledger.verify import verify
from latchway.ports import Granted
from latchway.values import replace
from latchway.wire.marks import mark
from ledger.parts import add_key, closing, entries, in_memory, opening, refund


@pytest.fixture
def book() -> Book:
    book = in_memory()
    add_key(book)
    return book


def write(book: Book, work: Work | None) -> Any:
    assert work is not None
    with book.transaction():
        return work(book)


def test_a_reservation_that_nobody_waits_for_is_released(book: Book) -> None:
    job = jobs.reserve(opening(), jobs.nobody_waits)
    assert write(book, job.work) == Granted()
    assert job.instead is None, "nothing is durable: nothing is owed"
    write(book, job.amends)
    assert entries(book) == [("reserve", 100), ("release", 100)]


def test_a_reservation_is_of_the_epoch_that_asked(book: Book) -> None:
    with book.transaction():
        epoch = book.add_epoch("host/2", book.epoch)
    write(book, jobs.reserve(opening("req_1"), jobs.nobody_waits).work)
    write(book, jobs.reserve(opening("req_2"), jobs.nobody_waits, epoch).work)
    rows = book.connection.execute(
        "SELECT request_id, epoch, under FROM turn JOIN epoch USING (epoch)"
    )
    assert rows.fetchall() == [("req_1", 1, None), ("req_2", 2, 1)]


ENDS = [
    # what is written of a closing's job, and the entries after it
    (("instead",), [("release", 100), ("loss", 40)]),
    (("work",), [("charge", 40), ("release", 60)]),
    (("work", "amends"), [("charge", 40), ("release", 60), ("adjust", 40)]),
    (("work", "amends", "amends"), [("charge", 40), ("release", 60), ("adjust", 40)]),
    (("work", "instead"), [("charge", 40), ("release", 60)]),
]


@pytest.mark.parametrize(("parts", "left"), ENDS)
def test_a_closing_is_made_or_made_up_for(
    book: Book, parts: tuple[str, ...], left: list[tuple[str, int]]
) -> None:
    write(book, jobs.reserve(opening(), jobs.nobody_waits).work)
    job = jobs.close(closing(), jobs.nobody_waits)
    for part in parts:
        write(book, getattr(job, part))
    assert entries(book)[1:] == left


CHARGED, GIVEN_BACK = [("charge", 40), ("release", 60)], ("adjust", 40)


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ([("refund", "work")], [*CHARGED, GIVEN_BACK]),
        ([("refund", "instead")], [*CHARGED, GIVEN_BACK]),
        ([("refund", "work"), ("refund", "work")], [*CHARGED, GIVEN_BACK]),
        ([("refund", "work"), ("charge", "amends")], [*CHARGED, GIVEN_BACK]),
        ([("charge", "work")], CHARGED),
        ([("another refund", "work"), ("another refund", "instead")], CHARGED),
    ],
)
def test_a_refund_behind_a_charge_that_is_durable_after_all_gives_it_back_in_its_own_commit(
    book: Book, then: list[tuple[str, str]], left: list[tuple[str, int]]
) -> None:
    """Else a record that says nothing was charged may be durable, and the process be killed."""
    write(book, jobs.reserve(opening(), jobs.nobody_waits).work)
    ends = {
        "charge": jobs.close(closing(), jobs.nobody_waits),
        "refund": jobs.close(replace(refund(), undoes=True), jobs.nobody_waits),
        "another refund": jobs.close(refund(), jobs.nobody_waits),
    }
    write(book, ends["charge"].work)
    for which, part in then:
        assert write(book, getattr(ends[which], part)) == Granted()
    assert entries(book)[1:] == left
    assert verify(book.connection) == []


def test_what_is_given_back_is_owed_until_it_is(book: Book) -> None:
    write(book, jobs.reserve(opening(), jobs.nobody_waits).work)
    write(book, jobs.close(closing(), jobs.nobody_waits).work)
    job = jobs.give_back("req_1", jobs.nobody_waits)
    write(book, job.instead)
    write(book, job.work)
    assert entries(book)[-1] == ("adjust", 40)
    assert len(entries(book)) == 4


def test_a_second_attempt_and_what_was_made(book: Book) -> None:
    write(book, jobs.reserve(opening(), jobs.nobody_waits).work)
    for job in (
        jobs.record_replay("req_1", "b/m", jobs.nobody_waits),
        jobs.remember("alice", "b/m", [mark("conv_1")], jobs.nobody_waits),
    ):
        assert write(book, job.work) == Granted()
    assert isinstance(job, Job)
    assert book.connection.execute("SELECT second_route FROM turn").fetchone() == ("b/m",)
    assert book.connection.execute("SELECT owner, route FROM made").fetchone() == ("alice", "b/m")
