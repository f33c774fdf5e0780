"""How attempts and turns end: the verdict, the bill, the words, the record (R2, R6, R7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from latchway.turn import billing, failures
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import Basis, Command, Delivered
from latchway.turn.decide import Situation, Verdict, decide
from latchway.turn.delivery import Delivery, State, Terms
from latchway.turn.events import Binding
from latchway.turn.failures import Failure
from latchway.values import replace
from latchway.wire.frame import Answer, Frame, Kind

RESENDABLE = frozenset({Verdict.NO_ROUTE, Verdict.BUDGET_SPENT})
"""Refusals after which sending again is safe: R2.1 or R2.2, nothing seen, no replay used."""

KEPT = frozenset({Binding.STORED, Binding.CONTINUATION})
"""Bindings under which its origin keeps what is made: a conversation does so, stored or not."""

CHARGED = frozenset({Basis.USAGE, Basis.ESTIMATE})


@dataclass(frozen=True, slots=True)
class Parting:
    """How a failure will be told once the ledger has closed the turn.

    `frames` (events, maybe none left to deliver) or `answer` are the upstream's own words for it;
    with neither, the gateway tells it in its own. `code`: a row of `wire/errors.py` then.
    """

    code: str
    frames: tuple[Frame, ...] | None = None
    answer: Answer | None = None


class Ending(Delivery):
    """The half of a turn's state that decides its end. Base of `machine.Turn`.

    `replay_room()` is the one fact that is asked rather than told (R10).
    """

    __slots__ = (
        "basis", "binding", "client_here", "code", "outcome", "pair_told", "parting", "phase",
        "records", "replay_room", "result",
    )  # fmt: skip

    def __init__(self, terms: Terms, replay_room: Callable[[], bool]) -> None:
        super().__init__(terms)
        self.replay_room = replay_room
        self.binding: Binding | None = None
        self.records: list[do.AttemptRecord] = []
        self.client_here = True
        self.result: Frame | None = None
        self.parting: Parting | None = None
        self.outcome = "failed"
        self.code: str | None = None
        self.phase: str | None = None
        self.basis = Basis.REFUND
        """What the ledger was last asked to close the turn by."""
        self.pair_told = False
        """The `error` of a pair is already with the client (after output, over HTTP)."""

    # ---- the attempt's end

    def failed(
        self,
        failure: Failure,
        now: float,
        out: list[Command],
        *,
        code: str | None = None,
        frames: Sequence[Frame] | None = None,
        answer: Answer | None = None,
        reason: str | None = None,
    ) -> None:
        """An abnormal end of the attempt: ask the rule, once, and do what it says.

        `frames` or `answer`: the upstream's own words, see `Parting`.
        """
        code = code or failure.code or "upstream_error"
        verdict = self._judge(failure, code, now, reason)
        out.append(do.Drop(self.live.number))
        if verdict is Verdict.REPLAY:
            self.live.hold.discard()
            self.state = State.CHOOSING_AGAIN
            out.append(do.SelectRoute(self.live.place.route))
            return
        passed = answer if failure.code is None else None
        self.parting = Parting(code, None if frames is None else tuple(frames), passed)
        self.close(self._basis(failure), out)

    def _judge(self, failure: Failure, code: str, now: float, reason: str | None) -> Verdict:
        """The only question to the rule, and what is remembered of its answer."""
        verdict = decide(self._situation(failure))
        outcome = "client_disconnected" if failure is failures.CLIENT_GONE else "failed"
        self.records.append(
            self.live.record(
                outcome=outcome, now=now, failure=failure, code=code, verdict=verdict, reason=reason
            )
        )
        self._note_failure(verdict, code)
        return verdict

    def _situation(self, failure: Failure) -> Situation:
        attempt = self.live
        assert self.binding is not None
        return Situation(
            client_here=self.client_here,
            delivered=self.delivered,
            binding=self.binding,
            kindred=attempt.place.kindred,
            attempt=attempt.number,
            observed=attempt.observed,
            failure=failure,
            acting_tools=self.terms.acting_tools,
            replay_room=self.replay_room(),
            another_route=attempt.place.another,
        )

    def _note_failure(self, verdict: Verdict, code: str) -> None:
        self.code = code
        if self.delivered is Delivered.OUTPUT:
            self.phase = "after_output"
        elif self.live.first_event is None:
            self.phase = "before_first_event"
        else:
            self.phase = "before_output"
        if verdict is not Verdict.REPLAY:
            self.refusal = verdict
        self.resendable = verdict in RESENDABLE and self.binding is Binding.STATELESS

    # ---- the failure's words

    def _part(self, parting: Parting, now: float, out: list[Command]) -> None:
        """Tell a client that is still here: what was held, then the failure (R4, R5)."""
        if not self.client_here:
            if not self.pair_told:
                self.outcome, self.code = "client_disconnected", failures.CLIENT_GONE.code
            return
        held = self._held_before(parting, now)
        if parting.frames is not None:
            self.hand([*held, *parting.frames], now, out)
            return
        self.hand(held, now, out)
        out.append(self._words(parting))

    def _held_before(self, parting: Parting, now: float) -> tuple[Frame, ...]:
        """What is held goes first, but neutral events alone do not cost the status line."""
        if self.attempt is None:
            return ()
        if parting.frames is None and self.status_line and self.live.hold.only_neutral:
            self.live.hold.discard()
        return self.release(now)

    def _words(self, parting: Parting) -> Command:
        answer = parting.answer
        if answer is None:
            return self.fail_as(parting.code)
        if self.status_line and answer.status >= 300:
            return do.PassAnswer(answer, self.replay_header(), self.resendable)
        fail = self.fail_as(parting.code)
        return replace(fail, answer=answer, retry_after=answer.note.retry_after)

    def fail_as(self, code: str) -> do.Fail:
        """The gateway's own failure, about the response that the client knows, if it does."""
        known = self.known
        return do.Fail(
            code,
            self.replay_header(),
            self.resendable,
            response_id=known.response_id if known else None,
            created_at=known.created_at if known else None,
            model=known.model if known else None,
        )

    # ---- the turn's end

    def _basis(self, failure: Failure | None) -> Basis:
        ours = (failures.CLIENT_GONE, failures.GATEWAY_STOPPED)
        return billing.basis(
            delivered=self.delivered,
            result=self.result is not None,
            usage_arrived=self.live.usage is not None,
            client_left=failure is failures.CLIENT_GONE,
            upstream_broke=failure is not None and failure not in ours,
            client_left_pays=self.terms.client_left_pays,
            upstream_broke_pays=self.terms.upstream_broke_pays,
        )

    def succeed(self, frame: Frame, now: float, out: list[Command]) -> None:
        """A result: settle durably, and only then deliver it (R6)."""
        self.result = frame
        out.append(do.Release(self.live.number))
        self.close(self._basis(None), out)

    def close(self, basis: Basis, out: list[Command]) -> None:
        """Ask the ledger to end the turn's money; the rest follows its answer."""
        attempt, charged = self.attempt, basis in CHARGED
        billed = attempt if charged else None
        named = attempt if self.result is not None else self.known
        self.state, self.basis = State.CLOSING, basis
        out.append(
            do.Close(
                basis=basis,
                attempt=billed.number if billed else None,
                usage=billed.usage if billed and basis is Basis.USAGE else None,
                output_bytes=attempt.output_bytes if attempt else 0,
                response_id=named.response_id if named else None,
                route=attempt.place.route if attempt else None,
                unbilled=tuple(r for r in self.records if not billed or r.number != billed.number),
                made=attempt.marks(kept=self.binding in KEPT) if attempt else (),
            )
        )

    def closed(self, event: on.Closed, now: float, out: list[Command]) -> None:
        """It is durable: what was kept for this moment goes out, and the turn is over."""
        if self.result is not None:
            self._deliver_result(self.result, now, out)
        elif self.parting is not None:
            self._part(self.parting, now, out)
        self.leave(now, out)

    def _deliver_result(self, frame: Frame, now: float, out: list[Command]) -> None:
        cut_short = frame.kind is Kind.INCOMPLETE or (
            frame.note is not None and frame.note.status == "incomplete"
        )
        self.outcome = "incomplete" if cut_short else "completed"
        self.code = None
        self.records.append(self.live.record(outcome=self.outcome, now=now))
        if not self.client_here:
            self.outcome, self.code = "client_disconnected", failures.CLIENT_GONE.code
            return
        self.hand([*self.release(now), frame], now, out)

    def unclosed(self, event: on.LedgerFailed, now: float, out: list[Command]) -> None:
        """The ledger cannot say that it is durable: a charge becomes a refund, and a result is
        not delivered (R6). A refund is owed and made later by the ledger; the failure goes out."""
        if self.result is not None:
            self.result = None
            self._judge(failures.GATEWAY_STOPPED, event.code, now, None)
            self.parting = Parting(event.code)
        if self.basis in CHARGED:
            self.close(Basis.REFUND, out)
            return
        if event.code == "internal_error" and not self.pair_told:
            self.code, self.parting = event.code, Parting(event.code)
        if self.parting is not None:
            self._part(self.parting, now, out)
        self.leave(now, out)

    def leave(self, now: float, out: list[Command]) -> None:
        """Say how the turn went: the last command of every turn."""
        self.state = State.ENDED
        out.append(self.summary(now))

    def summary(self, now: float) -> do.Finish:
        """How the turn went, as far as it went."""
        return do.Finish(
            outcome=self.outcome,
            code=self.code,
            binding=self.binding,
            delivered=self.delivered,
            replayed=self.replayed,
            response_id=self.known.response_id if self.known else None,
            attempts=tuple(self.records),
            began=self.began,
            first_output=self.first_output,
            ended=now,
            phase=self.phase if self.outcome == "failed" else None,
            held_seconds=self.held_seconds,
            released_by_timer=self.released_by_timer,
        )
