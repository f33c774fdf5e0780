"""While an attempt is in flight: its events, its clocks, and how it ends (R2, R4, R5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latchway.turn import events as on
from latchway.turn import failures, limits
from latchway.turn.between import Between
from latchway.turn.commands import Command, Delivered
from latchway.turn.delivery import State, Terms
from latchway.turn.failures import Failure
from latchway.wire.frame import Frame, Kind, Note

ENDINGS = frozenset({Kind.COMPLETED, Kind.INCOMPLETE, Kind.FAILED, Kind.ERROR})

OPEN = frozenset({State.RELEASED, State.STREAMING})
"""States in which events pass: the client has seen one of this attempt."""

PAIRINGS = frozenset({State.PAIRING, State.PAIRING_LATE})


class Running(Between):
    """The steps of `machine.Turn` that have an attempt in flight."""

    __slots__ = ("pair", "pair_due")

    def __init__(self, terms: Terms, replay_room: Callable[[], bool]) -> None:
        super().__init__(terms, replay_room)
        self.pair: list[Frame] = []
        self.pair_due = 0.0

    def connected(self, event: on.Connected, now: float, out: list[Command]) -> None:
        self.live.connected = now

    def sent(self, event: on.Sent, now: float, out: list[Command]) -> None:
        self.live.sent = now

    def headed(self, event: on.Headed, now: float, out: list[Command]) -> None:
        self.live.headed(event)

    def comment(self, event: on.Commented, now: float, out: list[Command]) -> None:
        self.live.heard = now

    def pause(self, event: on.Paused, now: float, out: list[Command]) -> None:
        self.live.paused = True

    def resume(self, event: on.Resumed, now: float, out: list[Command]) -> None:
        self.live.paused = False
        self.live.heard = now

    def arrive(self, event: on.Arrived, now: float, out: list[Command]) -> None:
        """Sort the events of one read: keep, pass, or end the attempt (R4, R5)."""
        attempt, frames = self.live, event.frames
        attempt.heard = now
        if self.state is State.STREAMING and attempt.hear_plain(frames):
            self.hand(frames, now, out)
            return
        passing: list[Frame] = []
        for index, frame in enumerate(frames):
            attempt.hear(frame, now)
            if frame.kind in ENDINGS:
                self.hand(passing, now, out)
                self._end(frame, frames[index + 1 :], now, out)
                return
            if frame.kind is Kind.OUTPUT and self.state is not State.STREAMING:
                passing = [*self.release(now), *passing]
                self.state = State.STREAMING
            if self.state in OPEN:
                passing.append(frame)
            elif not self.keep(frame, now):
                attempt.observe(frames[index + 1 :])
                self.failed(failures.BUFFER_OVERFLOW, now, out)
                return
        self.hand(passing, now, out)

    def tick(self, event: on.Tick, now: float, out: list[Command]) -> None:
        """Whatever is due: the attempt's end first, for it ends the rest."""
        due = self.attempt_due()
        if due is None or now < due:
            self.tick_hold(now, out)
            self.tick_client(now, out)
        elif self.state in PAIRINGS:
            self._end_pair(now, out)
        else:
            failure, reason = self._time_out()
            self.failed(failure, now, out, reason=reason)

    def _time_out(self) -> tuple[Failure, str | None]:
        """Which clock is up (R2, "Clocks")."""
        if self.live.connecting:
            return failures.READ_ERROR_BEFORE_FIRST, "no connection in time"
        if self.live.first_event is None or not self.terms.streamed:
            return failures.FIRST_EVENT_TIMEOUT, None
        return failures.IDLE_TIMEOUT, None

    # ---- how an attempt ends

    def _end(self, frame: Frame, rest: tuple[Frame, ...], now: float, out: list[Command]) -> None:
        if frame.kind is Kind.ERROR:
            self._begin_pair(frame, now, out)
            self._read_pair(rest, now, out)
        elif frame.kind is Kind.FAILED:
            self.live.observe(rest)
            self._fail_by_events([frame], now, out)
        else:
            self.succeed(frame, now, out)

    def _begin_pair(self, frame: Frame, now: float, out: list[Command]) -> None:
        """An `error`: read on, for the usage that forbids a replay may follow (R2, "Pairs")."""
        self.pair, self.pair_due = [frame], now + limits.PAIR_WAIT_SECONDS
        self.pair_told = self.terms.whole_pair and self.delivered is Delivered.OUTPUT
        if self.pair_told:
            self.hand([frame], now, out)
        self.state = State.PAIRING_LATE if self.state in OPEN else State.PAIRING

    def pair_on(self, event: on.Arrived, now: float, out: list[Command]) -> None:
        self._read_pair(event.frames, now, out)

    def _read_pair(self, frames: tuple[Frame, ...], now: float, out: list[Command]) -> None:
        """Look for the `response.failed`; any other event but a neutral one ends the wait."""
        for index, frame in enumerate(frames):
            self.live.second(frame)
            if frame.kind is Kind.NEUTRAL and self.live.hold.fits(frame):
                self.live.hold.count(frame)
                self.pair.append(frame)
                continue
            if frame.kind is Kind.FAILED:
                self.live.hear(frame, now)
                self.pair.append(frame)
            self.live.observe(frames[index + 1 :])
            self._end_pair(now, out)
            return

    def end_pair(
        self, event: on.Answered | on.Broke | on.Oversized, now: float, out: list[Command]
    ) -> None:
        self._end_pair(now, out)

    def leave_pair(self, event: on.ClientGone, now: float, out: list[Command]) -> None:
        """The failure is the upstream's: who leaves at an `error` did not cause it."""
        self.client_here = False
        self._end_pair(now, out)

    def stop_pair(self, event: on.Stop, now: float, out: list[Command]) -> None:
        """The turn ends here, too, but a client that has the `error` gets no second one."""
        if self.pair_told:
            self._end_pair(now, out)
        else:
            self.stop(event, now, out)

    def _end_pair(self, now: float, out: list[Command]) -> None:
        """What is delivered of a pair: what the client has not seen, nothing behind its last, and
        on a WebSocket one terminal frame."""
        complete = self.pair[-1].kind is Kind.FAILED
        told = self.pair if complete else self.pair[:1]
        drop_error = self.pair_told or (complete and not self.terms.whole_pair)
        left = [f for f in told if f.kind is not Kind.ERROR or not drop_error]
        self._fail_by_events(self.pair, now, out, left)

    def _fail_by_events(
        self, failing: Sequence[Frame], now: float, out: list[Command],
        left: Sequence[Frame] | None = None,
    ) -> None:  # fmt: skip
        """The upstream's own failure events end the attempt; a pair is final if either is.

        `left`: those of them that the client is still to get; None: all.
        """
        notes = [(failures.of_event(f.kind, f.note or Note()), f.note or Note())
                 for f in failing if f.kind is not Kind.NEUTRAL]  # fmt: skip
        final = [pair for pair in notes if not pair[0].replayable]
        failure, note = (final or notes)[0]
        code = note.code or next((n.code for _, n in notes if n.code), None)
        self.failed(failure, now, out, code=code, frames=failing if left is None else left)

    def answered(self, event: on.Answered, now: float, out: list[Command]) -> None:
        note = event.answer.note
        self.live.read(note, ended=True)
        failure = failures.of_answer(event.answer)
        self.failed(failure, now, out, code=failure.code or note.code, answer=event.answer)

    def broke(self, event: on.Broke, now: float, out: list[Command]) -> None:
        begun = event.begun or self.live.first_event is not None
        failure = failures.READ_ERROR_AFTER_FIRST if begun else failures.READ_ERROR_BEFORE_FIRST
        self.failed(failure, now, out, reason=event.reason)

    def oversized(self, event: on.Oversized, now: float, out: list[Command]) -> None:
        self.failed(failures.BUFFER_OVERFLOW, now, out)

    def gone(self, event: on.ClientGone, now: float, out: list[Command]) -> None:
        self.client_here = False
        self.failed(failures.CLIENT_GONE, now, out)

    def stop(self, event: on.Stop, now: float, out: list[Command]) -> None:
        self.failed(failures.GATEWAY_STOPPED, now, out, code=event.code)

    # ---- clocks

    def attempt_due(self) -> float | None:
        if self.state in PAIRINGS:
            return self.pair_due
        if self.state is State.RECORDING:
            return None
        return self.live.clock(self.terms.streamed, self.terms.whole_answer_timeout_seconds)
