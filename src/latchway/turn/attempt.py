"""One attempt as the turn remembers it: its clocks, its hold, and what has arrived from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from latchway.turn import limits
from latchway.turn.commands import AttemptRecord
from latchway.turn.decide import Verdict, rule_of
from latchway.turn.events import Headed, Place
from latchway.turn.failures import Failure
from latchway.turn.hold import Hold
from latchway.wire.frame import Frame, Kind, Note, Usage
from latchway.wire.marks import OfKept, mark

UNTAKEN = frozenset({Kind.LIFECYCLE, Kind.NEUTRAL, Kind.FAILED, Kind.ERROR})
"""Kinds that are neither output nor a result: without usage, nothing was observed."""

ON_THE_WAY = frozenset({Kind.LIFECYCLE, Kind.NEUTRAL, Kind.OUTPUT})
"""Kinds that do not end an attempt: zeros in their usage are a count not yet begun, not a bill."""


class Attempt:
    """State of the attempt in flight. Times are seconds on the turn's clock."""

    __slots__ = (
        "began", "connected", "created_at", "first_event", "heard", "hold", "http_status", "made",
        "model", "number", "observed", "output_bytes", "paused", "place", "request_id",
        "response_id", "sent", "usage", "usage_absurd",
    )  # fmt: skip

    def __init__(self, number: int, place: Place, now: float, hold_bytes: int) -> None:
        self.number, self.place, self.began = number, place, now
        self.hold = Hold(hold_bytes)
        self.connected: float | None = None
        self.sent: float | None = None
        self.first_event: float | None = None
        self.heard = now
        self.paused = False
        self.observed = False
        self.output_bytes = 0
        self.usage: Usage | None = None
        self.usage_absurd = False
        self.http_status: int | None = None
        self.request_id: str | None = None
        self.response_id: str | None = None
        self.created_at: float | None = None
        self.model: str | None = None
        self.made: dict[bytes, None] = {}

    def headed(self, event: Headed) -> None:
        self.http_status, self.request_id = event.status, event.request_id

    def hear_plain(self, frames: Sequence[Frame]) -> bool:
        """Take in a read of plain output, behind output: nearly every one is of this kind. False:
        there is more in it, and nothing was taken in."""
        text_bytes = 0
        for frame in frames:
            if frame.note is not None or frame.made:
                return False
            text_bytes += frame.text_bytes
        self.output_bytes += text_bytes
        return True

    def hear(self, frame: Frame, now: float) -> None:
        """Take in one frame that has arrived and whose turn it is."""
        if self.first_event is None and frame.kind is not Kind.NEUTRAL:
            self.first_event = now
        if frame.kind is Kind.OUTPUT:
            self.output_bytes += frame.text_bytes
        else:  # a result repeats the text of its deltas
            self.output_bytes = max(self.output_bytes, frame.text_bytes)
        if frame.made and len(self.made) < limits.MARKS:
            self.made.update(dict.fromkeys(frame.made))
        if frame.note is None:
            self.observed = True
            return
        if frame.kind not in UNTAKEN:
            self.observed = True
        self.read(frame.note, ended=frame.kind not in ON_THE_WAY)

    def read(self, note: Note, *, ended: bool) -> None:
        """Take in what an event says. `ended`: it ends the attempt, so that zero is zero (R6)."""
        if note.response_id is not None:
            self.response_id = note.response_id
            self.created_at, self.model = note.created_at, note.model
        if note.metered or note.output:
            self.observed = True
        if note.usage is not None and (ended or note.metered):
            self.usage = note.usage
        self.usage_absurd = self.usage_absurd or note.usage_absurd

    def observe(self, frames: Iterable[Frame]) -> None:
        """Count frames that have arrived behind a failure and are not delivered (R1.3).

        They forbid a replay and are on no bill: how many of them came with the failure is chance.
        """
        for frame in frames:
            if frame.metered or frame.kind not in UNTAKEN or (frame.note and frame.note.output):
                self.observed = True

    def second(self, frame: Frame) -> None:
        """Take in an event that has come in the wait behind an `error`: it was waited for, so what
        it meters counts (R6)."""
        self.observe([frame])
        if self.usage is None and frame.note is not None and frame.metered:
            self.usage = frame.note.usage

    @property
    def connecting(self) -> bool:
        """The request cannot be written yet. What has answered was connected, said or not."""
        return self.connected is None and self.first_event is None

    @property
    def refused(self) -> bool:
        """An HTTP error's status has arrived, and says what the failure is (R2): nothing is awaited
        but its body, within the adapter's own bound."""
        return self.http_status is not None and not 200 <= self.http_status <= 299

    def clock(self, streamed: bool, whole_answer_seconds: float) -> float | None:
        """When the clock that runs now is up (R2, "Clocks"); None while the client is slow."""
        if self.connecting:
            return self.began + self.place.connect_timeout_seconds
        since = self.sent or self.connected or self.began
        if not streamed:
            return since + whole_answer_seconds
        if self.refused:
            return None
        if self.first_event is None and self.sent is None:
            return since + self._writing_seconds
        if self.first_event is None:
            return since + self.place.first_event_timeout_seconds
        return None if self.paused else self.heard + self.place.idle_timeout_seconds

    @property
    def _writing_seconds(self) -> float:
        """A bound for a request that its upstream does not take. A large one takes its time, and
        the first event's clock runs from its last byte."""
        place = self.place
        return max(place.first_event_timeout_seconds, place.idle_timeout_seconds)

    def marks(self, *, kept: bool) -> tuple[bytes, ...]:
        """Of all that it made and only its origin can read (R3): its response, and its items.
        `kept`: its origin keeps them, so that an id alone can name one."""
        own = () if self.response_id is None else (mark(self.response_id),)
        return (*own, *(bytes(it) for it in self.made if kept or type(it) is not OfKept))

    def record(
        self,
        *,
        outcome: str,
        now: float,
        failure: Failure | None = None,
        code: str | None = None,
        verdict: Verdict | None = None,
        reason: str | None = None,
    ) -> AttemptRecord:
        """What the log says of this attempt. `reason`: why a read failed, for people."""
        return AttemptRecord(
            number=self.number,
            route=self.place.route,
            outcome=outcome,
            failure=failure.name if failure else None,
            own_rule=failure.rule if failure else None,
            rule=rule_of(verdict, failure) if verdict and failure else None,
            code=code,
            verdict=verdict.value if verdict else None,
            http_status=self.http_status,
            upstream_request_id=self.request_id,
            response_id=self.response_id,
            began=self.began,
            first_event=self.first_event,
            ended=now,
            usage=self.usage,
            usage_absurd=self.usage_absurd,
            reason=reason,
            output_bytes=self.output_bytes,
        )
