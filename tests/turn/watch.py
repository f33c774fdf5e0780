"""What must hold of a turn at every moment, watched from outside: told events, seen commands.

It knows nothing of the machine's insides. Frames carry their attempt's number as `data`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import Basis, Command, Delivered
from latchway.turn.events import Binding
from latchway.wire.frame import Frame, Kind

CHARGED = frozenset({Basis.USAGE, Basis.ESTIMATE})
TERMINAL = frozenset({Kind.COMPLETED, Kind.INCOMPLETE, Kind.FAILED, Kind.ERROR})
RESULT = frozenset({Kind.COMPLETED, Kind.INCOMPLETE})
PROOF = RESULT | {Kind.OUTPUT}
"""Kinds that show that the upstream has worked."""


@dataclass(frozen=True)
class Watch:
    """What was seen so far. `told` and `seen` give the next one; `seen` asserts."""

    opened: int = 0
    in_flight: int | None = None
    gone: bool = False
    observed: bool = False
    """Of the last attempt."""
    latch: Delivered = Delivered.NOTHING
    last: Kind | None = None
    """How the client was told the end: `last` is a frame's kind, FAILED for words of ours."""
    by_answer: bool = False
    reserved: bool = False
    recorded: bool = False
    """That there will be a second attempt is durable."""
    asked: str | None = None
    """What the ledger is asked: reserve | replay | close."""
    choosing: bool = False
    closes: tuple[Basis, ...] = ()
    closed: bool = False
    finished: bool = False

    def told(self, event: on.Event) -> Watch:
        """What the event itself changes in the world."""
        now = self
        if isinstance(event, on.ClientGone):
            now = replace(now, gone=True)
        if isinstance(event, on.RouteChosen | on.NoRoute | on.RouteFault):
            now = replace(now, choosing=False)
        if isinstance(event, on.Reserved):
            now = replace(now, reserved=True)
        if isinstance(event, on.ReplayRecorded):
            now = replace(now, recorded=True)
        if isinstance(event, LEDGER):
            now = replace(now, asked=None, closed=isinstance(event, on.Closed))
        if isinstance(event, on.Arrived) and event.attempt == now.in_flight:
            proof = any(f.kind in PROOF or f.metered for f in event.frames)
            now = replace(now, observed=now.observed or proof)
        return now

    def dies(self) -> None:
        """The process is killed at this moment: recovery knows what is durable, and refunds what
        is open. Nothing that went out may speak against that."""
        assert self.reserved or not self.opened, "a call that recovery does not know"
        assert self.recorded or self.opened < 2, "a second call that recovery does not know"
        if self.last in RESULT:
            assert self.closed, "a result that recovery would refund"

    def seen(self, commands: list[Command]) -> Watch:
        """What the commands change; fails where one may not come."""
        now = self
        for command in commands:
            assert not now.finished, f"{command} after the end"
            now = WATCHED[type(command)](now, command)
        return now

    # ---- one command each

    def select(self, command: do.SelectRoute) -> Watch:
        assert (command.failed is None) == (self.opened == 0)
        return replace(self, choosing=True)

    def reserve(self, command: do.Reserve) -> Watch:
        assert self.opened == 0
        assert self.closes == ()
        return replace(self, asked="reserve")

    def record(self, command: do.RecordReplay) -> Watch:
        assert self.opened == 1
        return replace(self, asked="replay")

    def open(self, command: do.Open) -> Watch:
        assert command.attempt == self.opened + 1 <= 2
        assert self.reserved
        assert self.in_flight is None, "two attempts in flight"
        assert self.closes == ()
        assert not self.gone, "opened for nobody"
        if command.attempt == 2:
            assert command.place.binding is Binding.STATELESS
            assert self.latch is Delivered.NOTHING, "replayed although delivered"
            assert not self.observed, "replayed although observed"
        return replace(self, opened=command.attempt, in_flight=command.attempt, observed=False)

    def leave(self, command: do.Drop | do.Release) -> Watch:
        assert command.attempt == self.in_flight, "left twice, or never opened"
        return replace(self, in_flight=None)

    def head(self, command: do.SendHead) -> Watch:
        assert self.latch is Delivered.NOTHING
        assert self.last is None
        return self

    def comment(self, command: do.Comment) -> Watch:
        assert self.last in (None, Kind.ERROR), "a comment behind the end"
        return self

    def deliver(self, command: do.Deliver) -> Watch:
        now = self
        for frame in command.frames:
            now = now._deliver(frame)
        return now

    def _deliver(self, frame: Frame) -> Watch:
        assert frame.data == b"%d" % self.opened, "a frame of another attempt"
        assert not self.by_answer
        if self.last is not None:
            assert self.last is Kind.ERROR, "something behind the end"
            assert frame.kind in (Kind.FAILED, Kind.NEUTRAL)
        if frame.kind in RESULT:
            assert self.closed, "a result before it is durable"
            assert self.closes[-1] in CHARGED
        last = frame.kind if frame.kind in TERMINAL else self.last
        return replace(self, last=last, latch=max(self.latch, _weight(frame), key=_value))

    def answer(self, command: do.PassAnswer) -> Watch:
        assert self.last is None
        assert self.latch is Delivered.NOTHING
        return replace(self, last=Kind.FAILED, by_answer=True)

    def fail(self, command: do.Fail) -> Watch:
        assert self.last is None, "a second end"
        assert command.response_id is None or self.latch is not Delivered.NOTHING
        return replace(self, last=Kind.FAILED, by_answer=True)

    def close(self, command: do.Close) -> Watch:
        assert self.reserved
        assert self.in_flight is None
        if self.closes:
            assert self.closes[0] in CHARGED, "closed twice"
            assert command.basis is Basis.REFUND
            assert len(self.closes) == 1
        if command.basis is Basis.FORGIVEN:
            assert self.latch is Delivered.OUTPUT
        return replace(self, asked="close", closes=(*self.closes, command.basis))

    def finish(self, command: do.Finish) -> Watch:
        assert self.in_flight is None
        assert self.gone or self.last is not None, "a live client was not told the end"
        assert self.reserved == bool(self.closes)
        assert [record.number for record in command.attempts] == list(range(1, self.opened + 1))
        assert command.replayed == (self.opened == 2)
        assert command.delivered is self.latch
        if command.outcome == "failed":
            assert command.code is not None
        if self.latch is not Delivered.OUTPUT and not self._settled_result(command):
            assert set(self.closes) <= {Basis.REFUND}, "charged for nothing"
        return replace(self, finished=True)

    def _settled_result(self, command: do.Finish) -> bool:
        """A result was charged, and then the client was gone or the ledger could not say so."""
        return bool(self.closes) and self.closes[0] in CHARGED and self.observed


def _weight(frame: Frame) -> Delivered:
    if frame.kind in PROOF:
        return Delivered.OUTPUT
    return Delivered.LIFECYCLE if frame.kind is Kind.LIFECYCLE else Delivered.NOTHING


def _value(delivered: Delivered) -> int:
    return delivered.value


LEDGER = (on.Reserved, on.Denied, on.LedgerFailed, on.ReplayRecorded, on.Closed)

WATCHED: dict[type[Command], Any] = {
    do.SelectRoute: Watch.select,
    do.Reserve: Watch.reserve,
    do.RecordReplay: Watch.record,
    do.Open: Watch.open,
    do.Drop: Watch.leave,
    do.Release: Watch.leave,
    do.SendHead: Watch.head,
    do.Comment: Watch.comment,
    do.Deliver: Watch.deliver,
    do.PassAnswer: Watch.answer,
    do.Fail: Watch.fail,
    do.Close: Watch.close,
    do.Finish: Watch.finish,
}
