"""A page that asks waits for its own answer, and not for ever."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest

from latchway.ledger.database import LedgerFault
from latchway.workers import questions
from latchway.workers.messages import Question, Reply
from latchway.workers.questions import Questions

SECONDS = 10.0


class Asked:
    """A link on which questions are heard; `pages`: threads that ask."""

    def __init__(self) -> None:
        self.open = True
        self.heard: SimpleQueue[Question] = SimpleQueue()
        self.questions = Questions(self, lambda call: call())  # type: ignore[arg-type]
        self.pages = ThreadPoolExecutor(2)

    def send(self, question: Question) -> None:
        self.heard.put(question)

    def page(self, what: str, about: str = "") -> tuple[Future[Any], Question]:
        """A page that waits, and what it has asked."""
        page = self.pages.submit(self.questions.ask, what, about)
        return page, self.heard.get(timeout=SECONDS)


def test_each_gets_its_own_answer() -> None:
    asked = Asked()
    first, one = asked.page("find", "req_1")
    second, other = asked.page("healthy")
    assert (one.what, one.about, other.what) == ("find", "req_1", "healthy")
    asked.questions.reply(Reply(other.number, True))
    asked.questions.reply(Reply(one.number, {"request_id": "req_1"}))
    assert first.result(SECONDS) == {"request_id": "req_1"}
    assert second.result(SECONDS) is True
    asked.pages.shutdown()


def test_a_supervisor_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "REPLY_SECONDS", 0.01)
    asked = Asked()
    with pytest.raises(LedgerFault, match="the supervisor does not answer"):
        asked.questions.ask("healthy")
    asked.questions.reply(Reply(asked.heard.get().number, True))
    asked.pages.shutdown()


def test_a_supervisor_that_is_gone() -> None:
    asked = Asked()
    page, _ = asked.page("healthy")
    asked.open = False
    asked.questions.lost()
    for fault in (
        page.exception(SECONDS),
        asked.pages.submit(asked.questions.ask, "x").exception(),
    ):
        assert isinstance(fault, LedgerFault)
    asked.pages.shutdown()
