"""A worker's ledger keeps what the writer promises, whatever becomes of the way to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from latchway.ledger import writer
from latchway.ledger.database import LedgerFault
from latchway.ledger.keys import Keys
from latchway.ledger.known import Known
from latchway.ports import Granted, Refused, Unavailable
from latchway.wire.marks import mark
from latchway.workers import remote
from latchway.workers.messages import Answer, Close, Record, Remember, Replay, Reserve, Undo
from latchway.workers.remote import GONE, WAY_SECONDS, RemoteLedger
from ledger.parts import NOW_MS, closing, in_memory, opening, record
from workers.pair import Pair

LATE = Unavailable("the supervisor did not answer in time")
TIME = writer.ANSWER_SECONDS + WAY_SECONDS


class Told:
    """Questions whose answers are set by the test. None: nobody answers."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] | None = {}

    def ask(self, what: str, about: str = "") -> Any:
        if self.answers is None:
            raise LedgerFault("the supervisor does not answer")
        return self.answers[what + about]


class Bench:
    """`told`: the outcomes, in order, with the moment."""

    def __init__(self) -> None:
        self.pair = Pair()
        self.clock = self.pair.clock
        self.began = self.clock.time()
        self.book = in_memory()
        self.questions = Told()
        known = Known(self.book.connection, lambda: NOW_MS, 1000)
        link: Any = self.pair.worker.link
        questions: Any = self.questions
        self.ledger = RemoteLedger(link, self.clock, Keys(), known, questions)
        link.heard, link.lost = self.ledger.answer, self.ledger.lost
        self.told: list[tuple[float, Any]] = []

    def tell(self, outcome: Any) -> None:
        self.told.append((self.clock.time() - self.began, outcome))

    def answer(self, number: int, outcome: Any) -> None:
        self.pair.supervisor.link.send(Answer(number, outcome))
        self.clock.advance()

    @property
    def asked(self) -> list[Any]:
        self.clock.advance()
        return self.pair.supervisor.heard


def test_what_is_asked_and_what_is_told() -> None:
    bench = Bench()
    ledger, tell, made = bench.ledger, bench.tell, [mark("conv_1")]
    ledger.reserve(opening(), tell)
    ledger.record_replay("req_1", "b/m", tell)
    ledger.close(closing(), tell)
    ledger.remember("alice", "a/m", made, tell)
    assert bench.asked == [
        Reserve(1, opening()),
        Replay(2, "req_1", "b/m"),
        Close(3, closing()),
        Remember(4, "alice", "a/m", tuple(made)),
    ]
    assert len(bench.pair.worker.wire.writes) == 1
    for number, outcome in ((2, None), (1, (5, 4)), (4, "no disk"), (3, None)):
        bench.answer(number, outcome)
    assert [outcome for _, outcome in bench.told] == [
        Granted(), Refused(5, 4), Unavailable("no disk"), Granted(),
    ]  # fmt: skip
    bench.clock.advance(60.0)
    assert len(bench.told) == 4
    assert bench.clock.pending == 0


ASKED: dict[str, Callable[[RemoteLedger, Any], None]] = {
    "reserve": lambda ledger, done: ledger.reserve(opening(), done),
    "replay": lambda ledger, done: ledger.record_replay("req_1", "b/m", done),
    "close": lambda ledger, done: ledger.close(closing(), done),
    "remember": lambda ledger, done: ledger.remember("alice", "a/m", [], done),
}
UNDONE = {"reserve": [Undo("req_1", False)], "close": [Undo("req_1", True)]}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_granted_too_late_is_undone(what: str) -> None:
    bench = Bench()
    ASKED[what](bench.ledger, bench.tell)
    bench.clock.advance(60.0)
    assert bench.told == [(TIME, LATE)]
    bench.answer(1, None)
    assert bench.asked[1:] == UNDONE.get(what, [])
    assert len(bench.told) == 1


@pytest.mark.parametrize("outcome", ["no disk", (5, 4)])
def test_what_is_refused_too_late_needs_no_undoing(outcome: Any) -> None:
    bench = Bench()
    bench.ledger.reserve(opening(), bench.tell)
    bench.clock.advance(60.0)
    bench.answer(1, outcome)
    assert bench.asked[1:] == []
    assert len(bench.told) == 1


def test_without_a_supervisor_nothing_is_durable() -> None:
    bench = Bench()
    bench.ledger.reserve(opening(), bench.tell)
    bench.clock.advance(60.0)
    bench.ledger.close(closing(), bench.tell)
    bench.pair.part()
    assert [outcome for _, outcome in bench.told] == [LATE, Unavailable(GONE)]
    for ask in ASKED.values():
        ask(bench.ledger, bench.tell)
    assert len(bench.told) == 2, "never from within the call"
    bench.clock.advance()
    assert [outcome for _, outcome in bench.told[2:]] == [Unavailable(GONE)] * len(ASKED)
    assert bench.clock.pending == 0


def test_records_are_said_at_once_and_counted() -> None:
    bench = Bench()
    bench.ledger.record(record())
    assert bench.asked == [Record(record())]
    assert bench.ledger.records == 1


def test_records_that_nobody_takes_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "UNSENT_BYTES", 10)
    bench = Bench()
    bench.pair.worker.wire.unsent = 11
    bench.ledger.record(record())
    bench.ledger.close(closing(), bench.tell)
    assert bench.asked == [Close(1, closing())], "money goes first"


def test_what_a_page_asks() -> None:
    bench = Bench()
    bench.questions.answers = {"healthy": True, "findreq_1": record()}
    assert bench.ledger.healthy
    assert bench.ledger.find("req_1") == record()
    bench.questions.answers = None
    assert not bench.ledger.healthy
    assert bench.ledger.find("req_1") is None


def test_who_made_what_is_read_here() -> None:
    bench = Bench()
    with bench.book.transaction():
        bench.book.remember("alice", "a/m", [mark("resp_1")])
    assert bench.ledger.maker("alice", [mark("resp_1")]) == "a/m"
    assert bench.ledger.is_anothers("bob", [mark("resp_1")])
    assert bench.asked == []
    bench.ledger.stop()
    with pytest.raises(LedgerFault):
        bench.ledger.maker("alice", [mark("resp_1")])
