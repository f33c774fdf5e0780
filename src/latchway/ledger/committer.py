"""The one thread that writes: whatever has queued during the last commit goes into the next.

A commit costs a flush of the disk, whatever is in it; so nobody waits for company, and under load
there always is some. A batch that fails is rolled back and its jobs are tried one by one, so that
each fails for its own reason only. A job that must happen nevertheless is owed, and tried again.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from latchway.ledger.database import LedgerFault
from latchway.ledger.keys import KeyFault
from latchway.ledger.sqlite import Book
from latchway.ports import Unavailable

BATCH_MOST = 256
"""Jobs in one commit: beyond, a commit takes longer than what it saves."""
RETRY_SECONDS = 1.0
"""Between two tries of what is owed."""
OWED_RECORDS_MOST = 10_000
"""Log records that wait for a disk; about 20 MB. Beyond, they are dropped: money goes first."""
STOP_SECONDS = 5.0
"""For the last commit, when the gateway stops. The rest is refunded at the next start."""

FAILURES = (sqlite3.Error, LedgerFault, LookupError, TypeError, ValueError, ArithmeticError)
"""What a job may raise. The last four would be bugs: they must fail their own turn, no other's."""

log = logging.getLogger(__name__)

Work = Callable[[Book], Any]


@dataclass(slots=True, eq=False)
class Job:
    """Something to be written, and whom to tell.

    `instead`: what is written, as soon as can be, if the work failed or was given up.
    `amends`: what is written if the work became durable after it was given up.
    `late`: told, in place of `done`, how it ended after it was given up.
    """

    work: Work
    done: Callable[[Any], None]
    instead: Work | None = None
    amends: Work | None = None
    late: Callable[[Any], None] | None = None
    record: bool = False
    due: float = 0.0
    """When it is given up, on the loop's clock."""
    epoch: int | None = None
    """The worker's that asked for it; None: this process."""
    answered: bool = False
    given_up: bool = False


Outcome = tuple[Job, Any]


class Committer:
    """`post` is called on this thread with the outcomes of each commit, after it."""

    def __init__(self, book: Book, post: Callable[[list[Outcome]], None]) -> None:
        self._book, self._post = book, post
        self._queue: SimpleQueue[list[Job] | None] = SimpleQueue()
        self._owed: list[Job] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="latchway-ledger", daemon=True)
        self._thread.start()

    def put(self, jobs: list[Job]) -> None:
        """In pieces, so that not even all of a full round make a commit that others wait for."""
        for at in range(0, len(jobs), BATCH_MOST):
            self._queue.put(jobs[at : at + BATCH_MOST])

    def stop(self) -> bool:
        """Write all that was put before, close the connection, end the thread. False: it hangs."""
        self._queue.put(None)
        self._thread.join(STOP_SECONDS)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping:
            jobs = self._take()
            if self._owed:
                self._pay()
            if jobs:
                self._post(self._commit(jobs))
        if self._owed:
            self._pay()
        self._book.connection.close()

    def _take(self) -> list[Job]:
        """What has queued; waits for a first job, but not for ever while something is owed."""
        jobs: list[Job] = []
        wait = True
        while len(jobs) < BATCH_MOST:
            try:
                more = self._queue.get(wait, RETRY_SECONDS if self._owed else None)
            except Empty:
                break
            if more is None:
                self._stopping = True
                break
            jobs += more
            wait = False
        return jobs

    def _commit(self, jobs: list[Job]) -> list[Outcome]:
        try:
            with self._book.transaction():
                return [(job, self._work(job)) for job in jobs]
        except FAILURES:
            return [(job, self._alone(job)) for job in jobs]

    def _work(self, job: Job) -> Any:
        if job.given_up:
            return self._undo(job)
        try:
            return job.work(self._book)
        except KeyFault as fault:
            return fault

    def _undo(self, job: Job) -> None:
        """Nobody waits for it any more: what was to be is not done, what makes up for it is."""
        if job.instead is not None:
            job.instead(self._book)

    def _alone(self, job: Job) -> Any:
        try:
            with self._book.transaction():
                return self._work(job)
        except FAILURES as fault:
            log.error("the ledger could not write: %s", fault, exc_info=_unless_disk(fault))
            self._owe(job)
            return Unavailable(str(fault))

    def _owe(self, job: Job) -> None:
        if job.instead is None:
            return
        if job.record and len(self._owed) >= OWED_RECORDS_MOST:
            log.error("a log record was dropped: %d are waiting", OWED_RECORDS_MOST)
            return
        self._owed.append(job)

    def _pay(self) -> None:
        """Try what is owed. What fails for another reason than the disk is not tried again."""
        owed, self._owed = self._owed, []
        while owed:
            job = owed.pop(0)
            assert job.instead is not None
            try:
                with self._book.transaction():
                    job.instead(self._book)
            except sqlite3.OperationalError:
                self._owed = [job, *owed]
                return
            except FAILURES as fault:
                log.critical("the ledger cannot write what it owes", exc_info=fault)


def _unless_disk(fault: Exception) -> Exception | None:
    """A full disk needs no traceback; anything else does."""
    return None if isinstance(fault, sqlite3.OperationalError) else fault
