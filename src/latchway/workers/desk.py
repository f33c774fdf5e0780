"""Where the supervisor carries out what one worker asks of the ledger.

What the worker's turns ask becomes jobs of the one writer, in the worker's own epoch; nothing is
answered to a worker that is gone, and what it had asked for is then given up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from latchway.ledger import jobs
from latchway.ledger.committer import Job
from latchway.ledger.writer import Writer
from latchway.workers.messages import (
    Answer,
    Close,
    Message,
    Outcome,
    Record,
    Remember,
    Replay,
    Reserve,
    Undo,
    said,
)


class Desk:
    """`say` is how the worker is told."""

    def __init__(self, writer: Writer, epoch: int, say: Callable[[Message], None]) -> None:
        self._writer, self._epoch, self._say = writer, epoch, say

    def take(self, message: Message) -> None:
        """KeyError: the message is no matter of the ledger's."""
        CARRY_OUT[type(message)](self, message)

    def leave(self) -> None:
        """The worker is gone: its epoch ends, and with it all its turns."""
        self._writer.end_epoch(self._epoch)

    def _reserve(self, message: Reserve) -> None:
        done = self._answer_to(message.number)
        self._submit(jobs.reserve(message.opening, done, self._epoch))

    def _replay(self, message: Replay) -> None:
        done = self._answer_to(message.number)
        self._submit(jobs.record_replay(message.request_id, message.route, done))

    def _close(self, message: Close) -> None:
        self._submit(jobs.close(message.closing, self._answer_to(message.number)))

    def _remember(self, message: Remember) -> None:
        done = self._answer_to(message.number)
        self._submit(jobs.remember(message.owner, message.route, message.marks, done))

    def _undo(self, message: Undo) -> None:
        if message.ended:
            self._submit(jobs.give_back(message.request_id, jobs.nobody_waits))
        else:
            self._submit(jobs.close(jobs.release(message.request_id), jobs.nobody_waits))

    def _record(self, message: Record) -> None:
        self._writer.record(message.record)

    def _submit(self, job: Job) -> None:
        job.epoch = self._epoch
        self._writer.submit(job)

    def _answer_to(self, number: int) -> Callable[[Outcome], None]:
        return partial(self._answer, number)

    def _answer(self, number: int, outcome: Outcome) -> None:
        self._say(Answer(number, said(outcome)))


CARRY_OUT: dict[type[Message], Callable[[Desk, Any], None]] = {
    Reserve: Desk._reserve,
    Replay: Desk._replay,
    Close: Desk._close,
    Remember: Desk._remember,
    Undo: Desk._undo,
    Record: Desk._record,
}
