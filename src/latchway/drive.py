"""Where a turn meets the world: one event in, all its commands out, then the next (law 8).

The driver owns a turn's timer, its money and its record; what the turn decides stands in `turn/`.
It never waits: whatever takes time answers through a callback that becomes the next event.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from latchway import failpoints
from latchway.books import Asked, Books, Ports
from latchway.ledger.database import LedgerFault
from latchway.ports import Call, Choice, Client, Closing, Granted, Refused, Timer, Unavailable
from latchway.terms import terms_of
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import Basis, Command
from latchway.turn.machine import State, Turn
from latchway.turn.running import OPEN

log = logging.getLogger("latchway.turn")


class Driver:
    """One turn under way. The client's adapter and the upstream's tell it what happens.

    `ended` is told of it, and need not hold it: a turn that is over leaves the collector nothing.
    """

    def __init__(
        self, ports: Ports, asked: Asked, client: Client, ended: Callable[[Driver, do.Finish], None]
    ) -> None:
        self.ports, self.asked, self.client, self._ended = ports, asked, client, ended
        self.turn = Turn(terms_of(asked.request, ports.settings), ports.routes.replay_room)
        self._events: list[on.Event] = []
        """A list: it holds one or two, and every open turn holds it."""
        self._busy = False
        self._timer: Timer | None = None
        self._timer_at = 0.0
        self._armed_in: State | None = None
        self._call: Call | None = None
        self._books = Books(ports, asked)
        self._reserved = False
        self._replaying = False
        self._slow = self._throttled = False

    # ---- what the client's adapter tells

    def begin(self) -> None:
        self.ports.routes.turn_began()
        self.ports.metrics.turn_opened(self._books.transport)
        self.tell(on.Begin())

    def client_gone(self) -> None:
        self.tell(on.ClientGone())

    def pause(self) -> None:
        """The client is slow."""
        self._slow = True
        self._throttle()

    def resume(self) -> None:
        self._slow = False
        self._throttle()

    def _throttle(self) -> None:
        """Only while events pass: what may yet decide on a replay is read as it arrives (law 6)."""
        wanted = self._slow and self.turn.state in OPEN
        if self._call is not None and wanted is not self._throttled:
            self._throttled = wanted
            (self._call.pause if wanted else self._call.resume)()
            self.tell(on.Paused() if wanted else on.Resumed())

    def stop(self, code: str) -> None:
        """The gateway ends the turn itself (R2.17)."""
        self.tell(on.Stop(code))

    # ---- one event in, its commands out

    def tell(self, event: on.Event) -> None:
        """Take in one event. Told from within a command, it waits until that one is done."""
        if self._busy:
            self._events.append(event)
            return
        self._busy = True
        try:
            self._step(event)
            while self._events:
                self._step(self._events.pop(0))
        finally:
            self._busy = False
        if self._timer is None or self._armed_in is not self.turn.state:
            self._arm()

    def _step(self, event: on.Event) -> None:
        """The one owner of our own bugs (law 10): the turn ends, is told and refunded, and the
        process goes on. A failpoint comes the same way, as any fault at its place would."""
        try:
            commands = self.turn.handle(event, self.ports.clock.time())
        except Exception as fault:
            self._abandon(event, fault)
            return
        for command in commands:
            try:
                CARRY_OUT[type(command)](self, command)
            except Exception as fault:
                self._fault(command, fault)

    def _fault(self, command: Command, fault: Exception) -> None:
        where = f"{type(command).__name__}, state {self.turn.state.value}"
        log.error("fault in turn %s at %s", self.asked.request_id, where, exc_info=fault)
        if isinstance(command, do.Close) and command.basis not in CHARGED:
            self._owe(command)
            self._events.append(on.LedgerFailed("internal_error"))
        else:
            self._events.append(ON_FAULT.get(type(command), on.Stop("internal_error")))

    def _owe(self, command: do.Close) -> None:
        """A refund whose way failed is still made, in the loop's next round: nobody waits for it,
        and whatever becomes of it, the turn has ended."""
        clock, closing = self.ports.clock, self._closing(command)
        clock.call_at(clock.time(), lambda: self.ports.ledger.close(closing, _nobody_waits))

    def _abandon(self, event: on.Event, fault: Exception) -> None:
        """The turn itself has a bug, and cannot say how it ends: end it as harmlessly as can be."""
        where = type(event).__name__
        log.error("bug in turn %s at %s", self.asked.request_id, where, exc_info=fault)
        self.turn.state = State.ENDED
        self._events.clear()
        self._hang_up()
        if self._reserved:
            self._owe(NOTHING_CHARGED)
        self.client.fail(do.Fail("internal_error", None, False))
        self.turn.outcome, self.turn.code = "failed", "internal_error"
        self._finish(self.turn.summary(self.ports.clock.time()))

    def _hang_up(self) -> None:
        call, self._call, self._throttled = self._call, None, False
        if call is not None:
            call.drop()

    def _arm(self) -> None:
        """Keep one timer, no later than the earliest moment that the turn may name before its state
        changes: one that rings too early is set again."""
        self._armed_in = self.turn.state
        due = self.turn.due()
        if due is not None:
            due = min(due, self.ports.clock.time() + self.turn.shortest())
        if self._timer is not None and due is not None and due < self._timer_at:
            self._timer.cancel()
            self._timer = None
        if due is not None and self._timer is None:
            self._timer_at = due
            self._timer = self.ports.clock.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer = None
        due = self.turn.due()
        if due is not None and self.ports.clock.time() >= due:
            self.tell(on.Tick())
        else:
            self._arm()

    # ---- commands

    def _select_route(self, command: do.SelectRoute) -> None:
        if command.failed is not None:
            failpoints.hit("select_route_replay")
            self._choose_again(command.failed)
            return
        try:
            choice = self.ports.routes.first(self.asked.request, self.asked.key.owner)
        except LedgerFault:
            choice = Choice(None, "ledger_unavailable")
        if choice.place is not None:
            self._events.append(on.RouteChosen(choice.place))
        else:
            code = choice.code or "no_route_available"
            self._events.append(on.NoRoute(code, choice.param, choice.message))

    def _choose_again(self, failed: str) -> None:
        """Choose the replay's route; from here on it counts as in flight (R10), for other turns
        decide while this one's is being recorded."""
        place = self.ports.routes.replay(self.asked.request, failed)
        if place is None:
            self._events.append(on.NoRoute())
            return
        self._replaying = True
        self.client.upstream_headers(())
        self.ports.routes.replay_began()
        self._events.append(on.RouteChosen(place))

    def _reserve(self, command: do.Reserve) -> None:
        failpoints.hit("reserve")
        self.ports.ledger.reserve(self._books.opening(command.place.route), self._on_reserve)

    def _on_reserve(self, answer: Granted | Refused | Unavailable) -> None:
        if isinstance(answer, Granted):
            self._reserved = True
            self._books.opened()
            if self.turn.state is State.ENDED:  # it was abandoned while the ledger was asked
                self._owe(NOTHING_CHARGED)
            self.tell(on.Reserved())
        elif isinstance(answer, Refused):
            self.tell(on.Denied(answer.needed, answer.available))
        else:
            self.tell(on.LedgerFailed())

    def _record_replay(self, command: do.RecordReplay) -> None:
        turn, route = self.asked.request_id, command.place.route
        self.ports.ledger.record_replay(turn, route, self._on_record_replay)

    def _on_record_replay(self, answer: Granted | Unavailable) -> None:
        self.tell(on.ReplayRecorded() if isinstance(answer, Granted) else on.LedgerFailed())

    def _open(self, command: do.Open) -> None:
        failpoints.hit(f"attempt_{command.attempt}")
        place, request, upstreams = command.place, self.asked.request, self.ports.upstreams
        self.client = self._books.noting(place.route, self.client)
        self._call = upstreams.open(command.attempt, place, request, self._tell_upstream)

    def _tell_upstream(self, event: on.UpstreamEvent) -> None:
        if isinstance(event, on.Headed):
            self.client.upstream_headers(event.headers)
        self.tell(event)
        if self._slow:
            self._throttle()

    def _deliver(self, command: do.Deliver) -> None:
        self.client.deliver(command)
        if self.asked.request.body:
            self.asked = self._books.let_go()

    def _drop(self, command: do.Drop) -> None:
        failed = self.turn.records[-1]
        self.ports.routes.attempt_ended(failed.route, failed.own_rule, self.ports.clock.time())
        self._hang_up()

    def _release(self, command: do.Release) -> None:
        self.ports.routes.attempt_ended(self.turn.live.place.route, None, self.ports.clock.time())
        call, self._call, self._throttled = self._call, None, False
        if call is not None:
            call.release()

    def _close(self, command: do.Close) -> None:
        failpoints.hit("settle" if command.basis in CHARGED else "refund")
        self.ports.ledger.close(self._closing(command), self._on_close)

    def _closing(self, command: do.Close) -> Closing:
        failure = self.turn.records[-1].failure if self.turn.records else None
        return self._books.closing(command, failure)

    def _on_close(self, answer: Granted | Unavailable) -> None:
        self.tell(on.Closed() if isinstance(answer, Granted) else on.LedgerFailed())

    def _finish(self, command: do.Finish) -> None:
        """Whatever fails here, the connection goes on to its next request."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self.client.end()
            self.ports.routes.turn_ended(self._replaying)
            self._books.write(command)
        finally:
            self._ended(self, command)


def _nobody_waits(answer: Granted | Unavailable) -> None:
    """The ledger makes up for an answer of Unavailable by itself."""


NOTHING_CHARGED = do.Close(Basis.REFUND, None, None, 0, None, None)
CHARGED = frozenset({Basis.USAGE, Basis.ESTIMATE})
ON_FAULT: dict[type[Command], on.Event] = {
    do.SelectRoute: on.RouteFault(),
    do.Reserve: on.LedgerFailed(),
    do.RecordReplay: on.LedgerFailed("internal_error"),
    do.Open: on.Stop("internal_error"),
    do.Close: on.LedgerFailed(),  # of a charge; a refund's is internal_error
}
"""What the turn is told when carrying out a command has failed by a fault of ours."""

CARRY_OUT: dict[type[Command], Callable[[Driver, Any], None]] = {
    do.SelectRoute: Driver._select_route,
    do.Reserve: Driver._reserve,
    do.RecordReplay: Driver._record_replay,
    do.Open: Driver._open,
    do.Drop: Driver._drop,
    do.Release: Driver._release,
    do.SendHead: lambda driver, command: driver.client.send_head(command),
    do.Comment: lambda driver, command: driver.client.comment(),
    do.Deliver: Driver._deliver,
    do.PassAnswer: lambda driver, command: driver.client.pass_answer(command),
    do.Fail: lambda driver, command: driver.client.fail(command),
    do.Close: Driver._close,
    do.Finish: Driver._finish,
}
