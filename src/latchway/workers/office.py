"""What the workers say to their supervisor, and what it answers: the ledger, keys, questions.

It knows no process: how workers begin and end is the crew's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from latchway.ledger import jobs, orders
from latchway.ledger.keys import KeyRow
from latchway.ledger.writer import Writer
from latchway.log.metrics import Metrics
from latchway.ports import Clock, Unavailable
from latchway.serve.process import served_by
from latchway.settings import Settings
from latchway.workers import figures
from latchway.workers.desk import Desk
from latchway.workers.figures import Sums
from latchway.workers.gather import Gather
from latchway.workers.link import Link
from latchway.workers.messages import (
    Ask,
    Failed,
    Hello,
    KeyChange,
    Leaving,
    Message,
    Question,
    Ready,
    Reply,
    Report,
    Told,
    Welcome,
)

KEY_SECONDS = 2.0
"""For every worker to take over a change of a key. One that does not is ended: what the command
has done must hold."""
ASK_SECONDS = 1.0
"""For a worker's figures, or its word that it has said all. One that is late is passed over: its
figures are then those of its last report."""

Say = Callable[[Any], None]


class Member:
    """One worker, as its supervisor sees it. `kill` ends its process at once."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.desk: Desk | None = None
        """There is one from its welcome on."""
        self.ready = False
        self.leaving = False
        self.reason: str | None = None
        """What it said of why it cannot serve."""
        self.report = Report([], [])
        self.kill: Callable[[], None] = lambda: None


class Office:
    """`ready` and `leaving` are called with a member that has begun to serve, or wants to go."""

    def __init__(self, settings: Settings, writer: Writer, clock: Clock, failpoint: str) -> None:
        self._settings, self._writer, self._failpoint = settings, writer, failpoint
        self._members: set[Member] = set()
        self._gather: Gather[Member] = Gather(clock)
        names = [route.name for model in settings.models.values() for route in model.routes]
        self._own = Metrics(settings.models, names)
        """Counts nothing: it has all families, and the states of the routes."""
        self._gone = Sums()
        self.ready: Callable[[Member], None] = _nobody_cares
        self.leaving: Callable[[Member], None] = _nobody_cares

    # ---- members

    def hear(self, member: Member, message: Message) -> None:
        """What is not in the table is the ledger's."""
        heard = HEAR.get(type(message))
        if heard is not None:
            heard(self, member, message)
        elif member.desk is not None:
            member.desk.take(message)

    def lost(self, member: Member) -> None:
        """Nothing more will come from it. What it had counted stays."""
        self._members.discard(member)
        if member.desk is not None:
            member.desk.leave()
        self._gone.add(member.report.families, gone=True)
        self._gather.gone(member)

    def _hello(self, member: Member, message: Hello) -> None:
        self._writer.begin_epoch(served_by(message.pid), lambda epoch: self._welcome(member, epoch))

    def _welcome(self, member: Member, epoch: int | Unavailable) -> None:
        if isinstance(epoch, Unavailable):
            member.reason = epoch.reason
            member.kill()
            return
        member.desk = Desk(self._writer, epoch, member.link.send)
        if not member.link.open:
            member.desk.leave()
            return
        self._members.add(member)
        rows = self._writer.keys.rows()
        member.link.send(Welcome(self._settings, rows, self._failpoint))

    def _ready(self, member: Member, message: Ready) -> None:
        member.ready = True
        self.ready(member)

    def _failed(self, member: Member, message: Failed) -> None:
        member.reason = message.reason

    def _leaving(self, member: Member, message: Leaving) -> None:
        member.leaving = True
        self.leaving(member)

    def _report(self, member: Member, message: Report) -> None:
        member.report = message

    def _told(self, member: Member, message: Told) -> None:
        self._gather.answered(member, message.number)

    # ---- keys (`control.TakesOrders`)

    def order(self, order: orders.Order, done: orders.Done) -> None:
        """Carried out, it holds in every worker, on open sockets too, before `done` is called; and
        as soon as can be, if it is durable after `done` was told that this is not known."""

        def tell(whom: orders.Done, answer: orders.Outcome) -> None:
            if isinstance(answer, KeyRow):
                self._spread(answer, lambda: whom(answer))
            else:
                whom(answer)

        self._writer.order(order, partial(tell, done), partial(tell, jobs.nobody_waits))

    def _spread(self, row: KeyRow, then: Callable[[], None]) -> None:
        def say(member: Member, number: int) -> None:
            member.link.send(KeyChange(number, row))

        def told(silent: set[Member]) -> None:
            for member in silent:
                member.kill()
            then()

        self._gather.ask(self._members, say, KEY_SECONDS, told)

    # ---- questions

    def _question(self, member: Member, message: Question) -> None:
        def reply(value: Any) -> None:
            member.link.send(Reply(message.number, value))

        ANSWERS[message.what](self, message.about, reply)

    def _healthy(self, about: str, reply: Say) -> None:
        reply(self._writer.healthy)

    def _find(self, about: str, reply: Say) -> None:
        """A record of which the turn's client may have seen the end already is on its way here: so
        all are asked to say what they have to say."""
        found = self._writer.find(about)
        if found is not None:
            reply(found)
        else:
            self._ask(False, lambda: reply(self._writer.find(about)))

    def _metrics(self, about: str, reply: Say) -> None:
        self._ask(True, lambda: reply(self._sums().render()))

    def _routes(self, about: str, reply: Say) -> None:
        self._ask(True, lambda: reply(self._states()))

    def _ask(self, report: bool, then: Callable[[], None]) -> None:
        def say(member: Member, number: int) -> None:
            member.link.send(Ask(number, report))

        self._gather.ask(self._serving(), say, ASK_SECONDS, lambda silent: then())

    def _serving(self) -> Iterable[Member]:
        return [member for member in self._members if member.ready]

    def _states(self) -> list[dict[str, Any]]:
        return figures.routes(
            member.report.routes for member in self._members if member.report.routes
        )

    def _sums(self) -> Sums:
        self._own.route_states((row["route"], row["state"]) for row in self._states())
        sums = Sums()
        for families in (figures.families(self._own.registry), self._gone.families()):
            sums.add(families)
        for member in self._members:
            sums.add(member.report.families)
        return sums


def _nobody_cares(member: Member) -> None:
    """Until the crew does."""


HEAR: dict[type[Message], Callable[[Office, Member, Any], None]] = {
    Hello: Office._hello,
    Ready: Office._ready,
    Failed: Office._failed,
    Leaving: Office._leaving,
    Report: Office._report,
    Told: Office._told,
    Question: Office._question,
}

ANSWERS: dict[str, Callable[[Office, str, Say], None]] = {
    "healthy": Office._healthy,
    "find": Office._find,
    "metrics": Office._metrics,
    "routes": Office._routes,
}
