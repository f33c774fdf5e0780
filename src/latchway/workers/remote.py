"""A worker's ledger and log: `ports.Ledger` and `ports.Log`, kept by the supervisor.

It holds what `Writer` holds: an answer comes after the commit that it tells of, in the loop's own
thread, and in time; what came too late is undone. What only reads is read here, from the file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from latchway.ledger import writer
from latchway.ledger.database import LedgerFault
from latchway.ledger.deadlines import Deadlines
from latchway.ledger.keys import Keys
from latchway.ledger.known import Known
from latchway.ports import Clock, Closing, Granted, Opening, Refused, Unavailable, Written
from latchway.workers.link import Link
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
    meant,
)
from latchway.workers.questions import Questions

WAY_SECONDS = 0.5
"""Beyond the writer's own time, so that it is the writer who gives up, unless the way to it is
blocked."""
UNSENT_BYTES = 64 << 20
"""Of what the supervisor has not taken; beyond, log records are dropped: money goes first."""

GONE = "the supervisor is gone"

log = logging.getLogger(__name__)


class _Asked:
    """`undo`: what is said if it is granted after it was given up."""

    __slots__ = ("answered", "done", "due", "given_up", "undo")

    def __init__(self, done: Callable[[Any], None], due: float, undo: Undo | None) -> None:
        self.done, self.due, self.undo = done, due, undo
        self.answered = self.given_up = False


class RemoteLedger:
    """`keys`: what requests are checked by. `records`: how many turns were logged."""

    def __init__(
        self, link: Link, clock: Clock, keys: Keys, known: Known, questions: Questions
    ) -> None:
        self.keys = keys
        self.records = 0
        self._link, self._clock, self._known, self._questions = link, clock, known, questions
        self._numbers = count(1)
        self._asked: dict[int, _Asked] = {}
        self._deadlines: Deadlines[_Asked] = Deadlines(clock, self._late)

    # ---- ports.Ledger

    def reserve(
        self, opening: Opening, done: Callable[[Granted | Refused | Unavailable], None]
    ) -> None:
        undo = Undo(opening.request_id, ended=False)
        self._ask(lambda number: Reserve(number, opening), done, undo)

    def record_replay(self, request_id: str, route: str, done: Written) -> None:
        self._ask(lambda number: Replay(number, request_id, route), done)

    def close(self, closing: Closing, done: Written) -> None:
        undo = Undo(closing.request_id, ended=True)
        self._ask(lambda number: Close(number, closing), done, undo)

    def remember(self, owner: str, route: str, marks: Sequence[bytes], done: Written) -> None:
        self._ask(lambda number: Remember(number, owner, route, tuple(marks)), done)

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        return self._known.maker(owner, marks)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return self._known.is_anothers(owner, marks)

    # ---- ports.Log

    def record(self, record: dict[str, Any]) -> None:
        """Said at once; any worker finds it from now on."""
        self.records += 1
        if self._link.unsent_bytes > UNSENT_BYTES:
            log.error("a log record was dropped: the supervisor does not take it")
        else:
            self._link.send(Record(record))

    # ---- report.Behind, beside the loop

    @property
    def healthy(self) -> bool:
        """Does the supervisor answer, and has its last write succeeded?"""
        try:
            return bool(self._questions.ask("healthy"))
        except LedgerFault:
            return False

    def find(self, request_or_response_id: str) -> dict[str, Any] | None:
        """A record of any worker that may not yet be in the database."""
        try:
            found: dict[str, Any] | None = self._questions.ask("find", request_or_response_id)
        except LedgerFault:
            return None
        return found

    # ---- what the supervisor says

    def answer(self, message: Answer) -> None:
        asked = self._asked.pop(message.number)
        asked.answered = True
        self._deadlines.forget_answered()
        outcome = meant(message.outcome)
        if not asked.given_up:
            asked.done(outcome)
        elif asked.undo is not None and isinstance(outcome, Granted):
            self._link.send(asked.undo)

    def lost(self) -> None:
        """The supervisor is gone: nothing more becomes durable. The next gateway on this database
        refunds what is open; what was settled in that very moment stays so."""
        self._deadlines.stop()
        asked, self._asked = list(self._asked.values()), {}
        for each in asked:
            each.answered = True
            if not each.given_up:
                self._tell_soon(each, Unavailable(GONE))

    def stop(self) -> None:
        self._deadlines.stop()
        self._known.close()

    # ---- within

    def _ask(
        self,
        message: Callable[[int], Message],
        done: Callable[[Any], None],
        undo: Undo | None = None,
    ) -> None:
        now = self._clock.time()
        asked = _Asked(done, now + writer.ANSWER_SECONDS + WAY_SECONDS, undo)
        if not self._link.open:
            self._tell_soon(asked, Unavailable(GONE))
            return
        number = next(self._numbers)
        self._asked[number] = asked
        self._deadlines.add(asked)
        self._link.send(message(number))

    def _late(self, late: list[_Asked]) -> None:
        for asked in late:
            self._tell_soon(asked, Unavailable("the supervisor did not answer in time"))

    def _tell_soon(self, asked: _Asked, outcome: Outcome) -> None:
        self._clock.call_at(self._clock.time(), lambda: asked.done(outcome))
