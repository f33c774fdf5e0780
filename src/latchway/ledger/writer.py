"""The ledger and the log as the turns see them: two ports, answered from one writing thread.

All of this class runs on the loop's thread. It hands over the jobs of a round and brings back the
answers, all of a commit in one call. An answer that does not come in time is given up: the turn
gets Unavailable, and what the job may yet have done is undone (R6: never charged for what was not
delivered).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from latchway.ledger import jobs, keys, made, orders, recovery
from latchway.ledger.committer import Committer, Job, Outcome
from latchway.ledger.database import LedgerFault, Lock, open_reader, open_writer, take_lock
from latchway.ledger.deadlines import Deadlines
from latchway.ledger.known import Known
from latchway.ledger.rounds import Rounds
from latchway.ledger.sqlite import Book
from latchway.log import store
from latchway.ports import Closing, Granted, Opening, Refused, Unavailable, Written

ANSWER_SECONDS = 2.0
"""How long a turn waits for the ledger."""
PROBE_SECONDS = 1.0
"""After a failure, until the disk is tried again, so that readiness returns by itself."""
PRUNE_SECONDS = 3600.0
MS_PER_DAY = 86_400_000

log = logging.getLogger(__name__)


class Writer:
    """Implements `ports.Ledger` and `ports.Log`. `keys`: the table that requests are checked by.

    `open` is the way to make one; `stop` ends it.
    """

    def __init__(
        self, path: Path, lock: Lock, book: Book, loop: asyncio.AbstractEventLoop, keep_ms: int
    ) -> None:
        self.keys = keys.load(book.connection)
        self.healthy = True
        """The last write succeeded."""
        self._book, self._lock, self._loop, self._keep_ms = book, lock, loop, keep_ms
        self._known = Known(open_reader(path), book.now_ms, keep_ms)
        self._deadlines: Deadlines[Job] = Deadlines(loop, self._late)
        self._behind: dict[str, dict[str, Any]] = {}
        self._pruning: asyncio.TimerHandle | None = None
        self._probing = False
        self._stopped = False
        self._committer = Committer(book, self._post)
        self._rounds = Rounds(loop, self._committer.put)
        self._prune()

    @classmethod
    def open(
        cls,
        path: Path,
        loop: asyncio.AbstractEventLoop,
        *,
        served_by: str,
        keep_days: float = 30.0,
        factory: type[sqlite3.Connection] = sqlite3.Connection,
    ) -> Writer:
        """Own the database, make it if need be, and refund what a killed gateway left open.

        LedgerFault: another gateway owns it, or it cannot be used. Called before the loop serves:
        it waits for the disk.
        """
        lock = take_lock(path)
        keep_ms = int(keep_days * MS_PER_DAY)
        try:
            book, refunded = _open_book(path, factory, served_by, keep_ms)
        except LedgerFault:
            lock.release()
            raise
        if refunded:
            log.warning("the last gateway was killed: refunded %d of its turns", refunded)
        return cls(path, lock, book, loop, keep_ms)

    # ---- ports.Ledger

    def reserve(
        self, opening: Opening, done: Callable[[Granted | Refused | Unavailable], None]
    ) -> None:
        self.submit(jobs.reserve(opening, done))

    def record_replay(self, request_id: str, route: str, done: Written) -> None:
        self.submit(jobs.record_replay(request_id, route, done))

    def close(self, closing: Closing, done: Written) -> None:
        self.submit(jobs.close(closing, done))

    def remember(self, owner: str, route: str, marks: Sequence[bytes], done: Written) -> None:
        self.submit(jobs.remember(owner, route, marks, done))

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        """Known for `log.keep_days`. LedgerFault: the ledger cannot be read."""
        return self._known.maker(owner, marks)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        """As `maker`."""
        return self._known.is_anothers(owner, marks)

    # ---- ports.Log

    def record(self, record: dict[str, Any]) -> None:
        """Write the record behind the turn. `find` knows it from now on."""
        request_id = record["request_id"]
        self._behind[request_id] = record

        def put(book: Book) -> None:
            store.put(book.connection, record)

        self._rounds.ride(Job(put, partial(self._written, request_id), instead=put, record=True))

    def _written(self, request_id: str, answer: object) -> None:
        self._behind.pop(request_id, None)

    def find(self, request_or_response_id: str) -> dict[str, Any] | None:
        """A record that may not yet be in the database. From any thread."""
        for record in list(self._behind.values()):
            if request_or_response_id in (record["request_id"], record["response_id"]):
                return record
        return None

    # ---- the commands

    def order(
        self, order: orders.Order, done: orders.Done, late: orders.Done = jobs.nobody_waits
    ) -> None:
        """Carry out what a command asks; it holds for the next turn before `done` is called. What
        becomes durable after it was given up holds just so, and `late` is told of it."""

        def tell(whom: orders.Done, answer: orders.Outcome) -> None:
            if isinstance(answer, keys.KeyRow):
                self.keys.put(answer)
            whom(answer)

        def work(book: Book) -> keys.KeyRow | None:
            return orders.carry_out(book, order)

        self.submit(Job(work, partial(tell, done), late=partial(tell, late)))

    def stop(self) -> None:
        """Write what has been asked for, close the database and give up the lock. If the disk
        hangs the lock is kept to the end of the process: nobody else may write meanwhile."""
        self._stopped = True
        self._deadlines.stop()
        if self._pruning is not None:
            self._pruning.cancel()
        self._known.close()
        self._rounds.stop()
        ended = self._committer.stop()
        if ended:
            self._lock.release()

    # ---- the workers

    def begin_epoch(self, served_by: str, done: Callable[[int | Unavailable], None]) -> None:
        """A worker begins; told the epoch of the turns that it is going to open."""
        self.submit(Job(lambda book: book.add_epoch(served_by, book.epoch), done))

    def end_epoch(self, epoch: int) -> None:
        """The epoch's worker is gone. What it asked for and did not hear is given up; behind that,
        and what makes up for it, its open turns are refunded and logged."""
        for job in self._deadlines:
            if job.epoch == epoch:
                job.given_up = True

        def recover(book: Book) -> None:
            recovery.recover_epoch(book, epoch, self._keep_ms)

        def then(answer: object) -> None:
            self._rounds.put(Job(recover, jobs.nobody_waits, instead=recover))

        self._rounds.put(Job(Book.touch, then))

    # ---- between the loop and the thread

    def submit(self, job: Job) -> None:
        """Have it written; `job.done` is told in time, whatever becomes of it."""
        job.due = self._loop.time() + ANSWER_SECONDS
        self._deadlines.add(job)
        self._rounds.put(job)

    def _post(self, outcomes: list[Outcome]) -> None:
        """On the committer's thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._answer, outcomes)

    def _answer(self, outcomes: list[Outcome]) -> None:
        """Tell everybody; a callback that fails does not take the others' answers with it."""
        self._note_health(outcomes)
        for at, (job, result) in enumerate(outcomes):
            told = False
            try:
                self._tell(job, result)
                told = True
            finally:
                if not told:
                    self._loop.call_soon(self._answer, outcomes[at + 1 :])
        self._deadlines.forget_answered()

    def _tell(self, job: Job, result: Any) -> None:
        job.answered = True
        if not job.given_up:
            job.done(result)
        elif job.late is not None:
            job.late(result)
        elif job.amends is not None and isinstance(result, Granted):
            self._rounds.put(Job(job.amends, jobs.nobody_waits, instead=job.amends))

    def _late(self, late: list[Job]) -> None:
        """They are given up."""
        self.healthy = False
        self._probe_soon()
        for job in late:
            self._loop.call_soon(job.done, Unavailable("the database did not answer in time"))

    def _note_health(self, outcomes: list[Outcome]) -> None:
        self.healthy = not any(isinstance(result, Unavailable) for _, result in outcomes)
        if not self.healthy:
            self._probe_soon()

    def _probe_soon(self) -> None:
        if not self._probing and not self._stopped:
            self._probing = True
            self._loop.call_later(PROBE_SECONDS, self._probe)

    def _probe(self) -> None:
        """Write something harmless, to see whether the disk is back."""
        self._probing = False
        if not self._stopped:
            self.submit(Job(Book.touch, jobs.nobody_waits))

    def _prune(self) -> None:
        """Delete what is oldest, a step at a time, and again in an hour. Money stays."""
        before_ms = self._book.now_ms() - self._keep_ms
        self._rounds.put(Job(lambda book: _prune(book, before_ms), self._pruned))

    def _pruned(self, more: object) -> None:
        if not self._stopped:
            delay = 0.0 if more is True else PRUNE_SECONDS
            self._pruning = self._loop.call_later(delay, self._prune)


def _prune(book: Book, before_ms: int) -> bool:
    """One step. True: there may be more."""
    records = store.prune(book.connection, recovery.iso(before_ms))
    return made.prune(book.connection, before_ms) or records


def _open_book(
    path: Path, factory: type[sqlite3.Connection], served_by: str, keep_ms: int
) -> tuple[Book, int]:
    """The book in a new epoch, and the number of turns that were refunded for an older one."""
    connection = open_writer(path, factory)
    try:
        book = Book(connection)
        with book.transaction():
            book.begin_epoch(served_by)
        return book, recovery.recover(book, keep_ms)
    except sqlite3.Error as error:
        connection.close()
        raise LedgerFault(f"cannot use the database {path}: {error}") from None
