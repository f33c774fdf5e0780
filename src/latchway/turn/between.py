"""Before the first call, and between the attempts: nothing is in flight (R1, R2.11, R2.13, R6)."""

from __future__ import annotations

from collections.abc import Callable

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn import failures, limits
from latchway.turn.attempt import Attempt
from latchway.turn.commands import Basis, Command
from latchway.turn.delivery import State, Terms
from latchway.turn.ending import Ending, Parting


class Between(Ending):
    """The steps of `machine.Turn` that have no attempt in flight."""

    __slots__ = ("stopped",)

    def __init__(self, terms: Terms, replay_room: Callable[[], bool]) -> None:
        super().__init__(terms, replay_room)
        self.stopped: str | None = None
        """The gateway ended the turn while an answer was awaited."""

    # ---- before the first call

    def begin(self, event: on.Begin, now: float, out: list[Command]) -> None:
        self.began = self.written = now
        self.state = State.CHOOSING
        out.append(do.SelectRoute(None))

    def choose(self, event: on.RouteChosen, now: float, out: list[Command]) -> None:
        self.place, self.binding = event.place, event.place.binding
        if self.terms.keepalive_seconds > 0:
            self.head_at = self.began + event.place.hold_seconds
        self.state = State.RESERVING
        out.append(do.Reserve(event.place))

    def refuse_route(self, event: on.NoRoute, now: float, out: list[Command]) -> None:
        fail = do.Fail(event.code, None, True, param=event.param, message=event.message)
        self._refuse(fail, now, out)

    def fault_route(self, event: on.RouteFault, now: float, out: list[Command]) -> None:
        self._refuse(do.Fail("internal_error", None, False), now, out)

    def deny(self, event: on.Denied, now: float, out: list[Command]) -> None:
        fail = do.Fail("insufficient_balance", None, False, needed=event.needed)
        self._refuse(fail, now, out)

    def refuse_unreserved(self, event: on.LedgerFailed, now: float, out: list[Command]) -> None:
        self._refuse(do.Fail(event.code, None, True, retry_after=1.0), now, out)

    def _refuse(self, fail: do.Fail, now: float, out: list[Command]) -> None:
        """End a turn for which nothing was called and nothing is reserved."""
        self.code = fail.code
        out.append(fail)
        self.leave(now, out)

    def note_gone(self, event: on.ClientGone, now: float, out: list[Command]) -> None:
        self.client_here = False

    def note_stop(self, event: on.Stop, now: float, out: list[Command]) -> None:
        self.stopped = self.stopped or event.code

    def reserved(self, event: on.Reserved, now: float, out: list[Command]) -> None:
        if not self._leaving(out):
            self._open(1, now, out)

    def _leaving(self, out: list[Command]) -> bool:
        """Has the client left, or the gateway ended the turn, while an answer was awaited?"""
        if not self.client_here:
            self.give_back(failures.CLIENT_GONE.code, "client_disconnected", out)
        elif self.stopped is not None:
            self.resendable = self.attempt is None
            self._end_with(self.stopped, out)
        else:
            return False
        return True

    def _end_with(self, code: str, out: list[Command]) -> None:
        self.parting = Parting(code)
        self.give_back(code, "failed", out)

    def give_back(self, code: str | None, outcome: str, out: list[Command]) -> None:
        """Between calls: nothing is in flight, so nothing is asked; the reservation returns."""
        self.code, self.outcome = code, outcome
        self.close(Basis.REFUND, out)

    def _open(self, number: int, now: float, out: list[Command]) -> None:
        assert self.place is not None
        assert number <= limits.ATTEMPTS
        self.attempt = Attempt(number, self.place, now, self.terms.pre_output_buffer_bytes)
        self.replayed = number > 1
        self.state = State.CALLING
        out.append(do.Open(number, self.place))

    # ---- between the attempts

    def choose_again(self, event: on.RouteChosen, now: float, out: list[Command]) -> None:
        if self._leaving(out):
            return
        self.place = event.place
        self.state = State.RECORDING
        out.append(do.RecordReplay(event.place))

    def fault_again(
        self, event: on.RouteFault | on.NoRoute, now: float, out: list[Command]
    ) -> None:
        """R2.13: the turn was not replayed, and attempt 1 keeps its verdict."""
        if not self._leaving(out):
            self.resendable = self.binding is on.Binding.STATELESS
            self._end_with(self.terms.replay_fault_code, out)

    def replay_recorded(self, event: on.ReplayRecorded, now: float, out: list[Command]) -> None:
        if not self._leaving(out):
            self._open(2, now, out)

    def replay_unrecorded(self, event: on.LedgerFailed, now: float, out: list[Command]) -> None:
        if not self._leaving(out):
            self._end_with(event.code, out)

    def ignore(self, event: on.Event, now: float, out: list[Command]) -> None:
        """Nothing to do: the event comes too late, or concerns nobody any more."""
