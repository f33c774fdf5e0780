"""One watched turn: every event is told as it comes, and the report is filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from latchway.turn import events as on
from latchway.turn.delivery import RESULTS
from latchway.turn.running import OPEN
from latchway.watch.asking import Asking
from latchway.watch.judge import Judge
from latchway.watch.seen import (
    CLASSES,
    TEXT_CHARACTERS,
    Fate,
    Noted,
    Report,
    Seen,
    cut_reason,
    name_and_number,
)
from latchway.wire.frame import Frame, Kind

COMMENT = "a comment, or a block without data"
RELEASED = "the hold's limit: what is held would go out now, and the latch is shut"

KEPT = frozenset({Kind.LIFECYCLE, Kind.NEUTRAL, Kind.ERROR})
"""Kinds that are held until output begins (R4), or the second of a pair has come (R2, Pairs)."""


class Watcher:
    """Hears an attempt's events. `now`: seconds since the watch began."""

    def __init__(
        self, asking: Asking, tell: Callable[[Seen | Noted], None], now: Callable[[], float]
    ) -> None:
        self.report = Report()
        self._judge = Judge(asking)
        self._tell, self._now = tell, now
        self._result: Frame | None = None

    @property
    def over(self) -> bool:
        """The turn's end has been seen."""
        return self._judge.over

    def due(self) -> float | None:
        """When `tick` is wanted next."""
        return self._judge.turn.due()

    def tick(self) -> None:
        """A clock of the turn has run out: the hold's, or the silence's."""
        released = self._judge.turn.released_by_timer
        self._judge.hear(on.Tick(), self._now())
        if self._judge.turn.released_by_timer and not released:
            self.note(RELEASED)

    def hear(self, event: on.UpstreamEvent, frames: tuple[Frame, ...] = ()) -> None:
        """Take in one event of the attempt. `frames`: what is to be shown of one without frames."""
        now, report = self._now(), self.report
        if isinstance(event, on.Connected):
            report.connected = now
        elif isinstance(event, on.Sent):
            report.sent = now
        elif isinstance(event, on.Headed):
            report.headed, report.status, report.request_id = now, event.status, event.request_id
        elif isinstance(event, on.Commented):
            self.note(COMMENT)
        elif isinstance(event, on.Answered):
            report.why = _message(event.answer.note.error)
        elif isinstance(event, on.Arrived):
            frames = event.frames
        self._show(frames, event, now)

    def note(self, text: str) -> None:
        """Something came that is no event."""
        self._tell(Noted(self._now(), text))

    def finish(self) -> Report:
        """All that is known when nothing more comes."""
        report, attempt = self.report, self._judge.turn.live
        report.ended = self._now()
        report.usage, report.response_id = attempt.usage, attempt.response_id
        report.record = self._judge.record
        if report.record is not None:
            report.outcome, report.ended = report.record.outcome, report.record.ended
        if report.outcome == "incomplete" and self._result is not None:
            report.why = cut_reason(self._result)
        return report

    def _show(self, frames: tuple[Frame, ...], event: on.Event, now: float) -> None:
        shut = self._judge.turn.state in OPEN
        passed = set(self._judge.hear(event, now))
        for frame in frames:
            shut = shut or frame.kind in RESULTS
            self._say(frame, _fate(frame, shut, id(frame) in passed), now)

    def _say(self, frame: Frame, fate: Fate, now: float) -> None:
        if frame.kind in RESULTS:
            self._result = frame
        elif frame.note is not None and frame.note.error is not None:
            self.report.why = _message(frame.note.error)
        for payload in frame.payloads():
            name, number = name_and_number(payload, frame.kind)
            last = self.report.last_event
            gap = now if last is None else now - last
            seen = Seen(now, gap, name, number, len(payload), CLASSES[frame.kind], fate)
            self.report.count(seen)
            self._tell(seen)


def _fate(frame: Frame, shut: bool, passed: bool) -> Fate:
    """What became of it when it came. That its output came in the same read makes no difference to
    an event that is held, nor its second to an `error`: it was held for no time, and it was held.
    """
    if frame.kind in KEPT and not shut:
        return Fate.HELD
    return Fate.PASSED if passed else Fate.DROPPED


def _message(error: Mapping[str, Any] | None) -> str | None:
    said = None if error is None else error.get("message")
    return said[:TEXT_CHARACTERS] if isinstance(said, str) else None
