"""One commit for all that queued; each job fails for its own reason; what is owed is paid."""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import committer
from latchway.ledger.committer import Committer, Job, Outcome
from latchway.ledger.database import open_writer
from latchway.ledger.keys import KeyFault
from latchway.ledger.sqlite import Book
from latchway.ports import Granted, Unavailable
from ledger.disks import DEADLINE, Disk
from ledger.parts import add_key, book_of, closing, entries, opening, refund


class Desk:
    """Puts jobs and gathers what comes back."""

    def __init__(self, path: Path) -> None:
        self.disk, self.path = Disk(), path
        self.book = book_of(open_writer(path, self.disk.connection()))
        add_key(self.book)
        self.disk.commits = 0
        self.batches: list[list[Outcome]] = []
        self.came = threading.Condition()
        self.committer = Committer(self.book, self.post)

    def post(self, outcomes: list[Outcome]) -> None:
        with self.came:
            self.batches.append(outcomes)
            self.came.notify_all()

    def results(self, count: int) -> list[Any]:
        """The first `count` results, in order, once they have come."""
        with self.came:
            assert self.came.wait_for(lambda: sum(map(len, self.batches)) >= count, DEADLINE)
            return [result for batch in self.batches for _, result in batch][:count]

    def put(self, *jobs: Job) -> None:
        """Each as a round of its own."""
        for each in jobs:
            self.committer.put([each])

    def behind_a_hanging_commit(self, jobs: list[Job]) -> None:
        """Put jobs that must queue, because the one before them hangs in its commit."""
        self.disk.hang("COMMIT")
        self.put(job(Book.touch))
        assert self.disk.reached.wait(DEADLINE)
        self.put(*jobs)
        self.disk.hangs.set()


def job(work: Any, **more: Any) -> Job:
    return Job(work, lambda _: None, **more)


def reserve(name: str, **changed: Any) -> Job:
    return job(lambda book: book.reserve(opening(name, **changed)))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(committer, "RETRY_SECONDS", 0.01)
    desk = Desk(tmp_path / "latchway.db")
    yield desk
    desk.disk.hangs.set()
    desk.committer.stop()


def test_what_queued_shares_a_commit(desk: Desk) -> None:
    desk.behind_a_hanging_commit([reserve(f"req_{n}", amount=1) for n in range(300)])
    assert desk.results(301)[1:] == [Granted()] * 300
    assert [len(batch) for batch in desk.batches] == [1, 256, 44]
    assert desk.disk.commits == 3


def test_a_full_round_is_no_longer_a_commit_than_others(desk: Desk) -> None:
    desk.committer.put([reserve(f"req_{n}", amount=1) for n in range(600)])
    assert desk.results(600) == [Granted()] * 600
    assert sorted(len(batch) for batch in desk.batches) == [88, 256, 256]


def test_one_that_fails_does_not_fail_the_others(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = [reserve("req_1"), reserve("req_1"), reserve("req_2", key="nobody"), reserve("req_3")]
    desk.behind_a_hanging_commit(jobs)
    _, first, second, third, fourth = desk.results(5)
    assert (first, fourth) == (Granted(), Granted())
    assert isinstance(second, Unavailable)
    assert third == Unavailable("no key 'nobody'")
    assert entries(desk.book) == [("reserve", 100), ("reserve", 100)]
    assert len(caplog.records) == 2


def test_a_bug_fails_its_own_job(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.put(job(lambda book: {}["missing"]))
    desk.put(reserve("req_1"))
    failed, granted = desk.results(2)
    assert isinstance(failed, Unavailable)
    assert granted == Granted()
    assert caplog.records[0].exc_info, "a bug has a traceback"


def test_a_refused_order_is_an_answer(desk: Desk) -> None:
    def refuse(book: Book) -> None:
        raise KeyFault("no")

    desk.put(job(refuse))
    (answer,) = desk.results(1)
    assert isinstance(answer, KeyFault)


def test_a_full_disk_fails_at_once_and_the_refund_follows(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.put(reserve("req_1"))
    desk.results(1)
    desk.disk.fill()
    settle = job(
        lambda book: book.close(closing("req_1")),
        instead=lambda book: book.close(refund("req_1", loss=40)),
    )
    desk.put(settle)
    assert desk.results(2)[1] == Unavailable("database or disk is full")
    assert not caplog.records[0].exc_info, "a full disk needs no traceback"
    desk.disk.mend()
    desk.committer.stop()
    reader = sqlite3.connect(desk.path)
    kinds = reader.execute("SELECT kind, amount FROM entry WHERE turn = 1 ORDER BY number, part")
    assert kinds.fetchall() == [("reserve", 100), ("release", 100), ("loss", 40)]
    reader.close()


def test_a_real_full_database(desk: Desk) -> None:
    """SQLite's own answer, where its file may not grow any more."""
    (pages,) = desk.book.connection.execute("PRAGMA page_count").fetchone()
    desk.book.connection.execute(f"PRAGMA max_page_count={pages}")
    for number in range(200):
        desk.put(reserve(f"req_{number}", amount=0))
    assert desk.results(200)[-1] == Unavailable("database or disk is full")
    desk.book.connection.execute("PRAGMA max_page_count=1000000")
    desk.put(reserve("req_last"))
    assert desk.results(201)[-1] == Granted()


def test_what_is_given_up_before_it_ran_is_undone_instead(desk: Desk) -> None:
    desk.put(reserve("req_1"))
    desk.results(1)
    late = job(
        lambda book: book.close(closing("req_1")),
        instead=lambda book: book.close(refund("req_1")),
    )
    late.given_up = True
    unheard = reserve("req_2")
    unheard.given_up = True
    desk.put(late)
    desk.put(unheard)
    assert desk.results(3)[1:] == [None, None]
    assert entries(desk.book) == [("reserve", 100), ("release", 100)]


def test_records_that_wait_are_bounded_and_money_is_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(committer, "OWED_RECORDS_MOST", 2)
    paid: list[str] = []

    def owing(name: str, record: bool) -> Job:
        return job(Book.touch, instead=lambda _: paid.append(name), record=record)

    desk.disk.fill()
    for name in ("a", "b", "c", "money"):
        desk.put(owing(name, record=name != "money"))
    desk.results(4)
    desk.disk.mend()
    desk.committer.stop()
    assert sorted(paid) == ["a", "b", "money"]
    assert "a log record was dropped" in caplog.text


def test_what_can_never_be_written_is_not_tried_for_ever(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    unknown = job(
        lambda book: book.close(closing("unknown")),
        instead=lambda book: book.close(refund("unknown")),
    )
    desk.put(unknown)
    desk.results(1)
    desk.committer.stop()
    assert [record.message for record in caplog.records] == ["the ledger cannot write what it owes"]


def test_stopping_writes_what_was_put_before(desk: Desk) -> None:
    desk.behind_a_hanging_commit([reserve(f"req_{n}", amount=0) for n in range(600)])
    assert desk.committer.stop()
    assert desk.results(601)[-1] == Granted()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        desk.book.connection.execute("SELECT 1")


def test_a_disk_that_hangs_is_not_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "STOP_SECONDS", 0.01)
    desk.disk.hang("COMMIT")
    desk.put(reserve("req_1"))
    assert desk.disk.reached.wait(DEADLINE)
    assert not desk.committer.stop()
