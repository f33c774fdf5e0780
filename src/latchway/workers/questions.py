"""What a page of a worker must ask its supervisor: records on their way, figures of all workers.

A page that asks runs beside the loop, in a thread of its own, and waits there.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any

from latchway.ledger.database import LedgerFault
from latchway.workers.link import Link
from latchway.workers.messages import Question, Reply

REPLY_SECONDS = 2.0
"""For the supervisor, which asks every worker for half of it at most."""


class Questions:
    """`on_loop` has something called on the loop's thread; it may be called from any."""

    def __init__(self, link: Link, on_loop: Callable[[Callable[[], None]], object]) -> None:
        self._link, self._on_loop = link, on_loop
        self._numbers = count(1)
        self._open: dict[int, Future[Any]] = {}

    def ask(self, what: str, about: str = "") -> Any:
        """From any thread but the loop's. LedgerFault: the supervisor does not answer."""
        reply: Future[Any] = Future()
        self._on_loop(lambda: self._send(what, about, reply))
        try:
            return reply.result(REPLY_SECONDS)
        except TimeoutError:
            raise LedgerFault("the supervisor does not answer") from None

    def _send(self, what: str, about: str, reply: Future[Any]) -> None:
        if not self._link.open:
            reply.set_exception(TimeoutError())
            return
        number = next(self._numbers)
        self._open[number] = reply
        self._link.send(Question(number, what, about))

    def reply(self, message: Reply) -> None:
        self._open.pop(message.number).set_result(message.value)

    def lost(self) -> None:
        """Nobody will answer any more."""
        for reply in self._open.values():
            reply.set_exception(TimeoutError())
        self._open.clear()
