"""What is watched, as text of 100 columns or as JSON lines. The credential is never shown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Protocol, TextIO

from latchway.commands.common import printable
from latchway.turn.decide import SENTENCE, Verdict
from latchway.watch.address import Address
from latchway.watch.asking import Asking
from latchway.watch.credential import Credential
from latchway.watch.seen import Fate, Noted, Report, Seen
from latchway.wire.frame import Usage

COLUMNS = 100
LABEL = 15
"""Columns of what stands before the text."""
TEXT = 400
"""Characters of one entry of the table: what a person reads of an error's message."""
TYPE = 42
"""Columns of an event's type; a longer one is cut."""

HEADER = f"{'at':>9} {'gap':>9} {'no.':>5}  {'event':<{TYPE}} {'bytes':>8}  {'class':<9}  latchway"

TEXTS = ("ended", "code", "why", "content_type", "request_id", "response_id")
"""Members of the last line that somebody else has said."""

HOLDS = {Fate.PASSED: "passes", Fate.HELD: "held", Fate.DROPPED: "dropped"}


class Show(Protocol):
    """Where what is watched goes, as it comes."""

    def begin(self, address: Address, asking: Asking) -> None: ...
    def tell(self, what: Seen | Noted) -> None: ...
    def end(self, report: Report) -> None: ...


class Lines:
    """One line at a time, at once, and without the credential."""

    def __init__(self, out: TextIO, credential: Credential) -> None:
        self._out, self._credential = out, credential

    def say(self, line: str) -> None:
        self._out.write(f"{self._credential.clean(line)}\n")
        self._out.flush()

    def shown(self, text: str, most: int) -> str:
        """A text of somebody else's, of at most so many characters."""
        text = printable(self._credential.clean(text))
        return text if len(text) <= most else f"{text[: most - 1]}…"


class Text:
    """For people."""

    def __init__(self, lines: Lines) -> None:
        self._say, self._shown = lines.say, lines.shown

    def begin(self, address: Address, asking: Asking) -> None:
        how = "" if asking.streamed else ", not streamed"
        self._say(f"{address}, model {printable(asking.model)}{how}, {len(asking.body)} bytes sent")
        self._say(HEADER)

    def tell(self, what: Seen | Noted) -> None:
        if isinstance(what, Noted):
            self._say(f"{what.at:>9.3f}  -- {what.text}")
            return
        number = "" if what.number is None else what.number
        name = self._shown(what.type, TYPE)
        self._say(
            f"{what.at:>9.3f} {what.gap:>+9.3f} {number:>5}  {name:<{TYPE}} {what.size:>8}"
            f"  {what.class_:<9}  {HOLDS[what.fate]}"
        )

    def end(self, report: Report) -> None:
        self._say("")
        for label, text in _table(report):
            shown = textwrap.wrap(self._shown(text, TEXT), COLUMNS - LABEL)
            for place, line in enumerate(shown):
                self._say(f"{'' if place else label:<{LABEL}}{line}")


class Json:
    """For programs: a line for each event, and one for the end."""

    def __init__(self, lines: Lines) -> None:
        self._say, self._shown = lines.say, lines.shown

    def begin(self, address: Address, asking: Asking) -> None:
        """Nothing: the first line is the first event."""

    def tell(self, what: Seen | Noted) -> None:
        if isinstance(what, Seen):
            self._say(json.dumps(_event_json(what) | {"type": self._shown(what.type, TEXT)}))
        else:
            self._say(json.dumps({"at": round(what.at, 6), "note": what.text}))

    def end(self, report: Report) -> None:
        end = _end_json(report)
        texts = {name: self._shown(end[name], TEXT) for name in TEXTS if end[name] is not None}
        types = {self._shown(name, TEXT): count for name, count in report.types.items()}
        self._say(json.dumps({"end": end | texts | {"events": types}}))


def _event_json(seen: Seen) -> dict[str, Any]:
    return {
        "at": round(seen.at, 6),
        "gap": round(seen.gap, 6),
        "type": seen.type,
        "sequence_number": seen.number,
        "bytes": seen.size,
        "class": seen.class_,
        "held": seen.fate is Fate.HELD,
        "fate": seen.fate.value,
    }


def _end_json(report: Report) -> dict[str, Any]:
    record = report.record
    return {
        "outcome": report.outcome,
        "ended": how_it_ended(report),
        "failure": record.failure if record else None,
        "rule": record.own_rule if record else None,
        "code": record.code if record else None,
        "verdict": record.verdict if record else None,
        "why": report.why,
        "status": report.status,
        "content_type": report.content_type,
        "request_id": report.request_id,
        "response_id": report.response_id,
        "connected": _rounded(report.connected),
        "sent": _rounded(report.sent),
        "status_line": _rounded(report.headed),
        "first_event": _rounded(report.first_event),
        "first_output": _rounded(report.first_output),
        "last_event": _rounded(report.last_event),
        "end": _rounded(report.ended),
        "events": {},
        "bytes": report.sizes.total(),
        "bytes_behind_the_end": report.behind,
        "held": report.held,
        "usage": _usage_json(report.usage),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _usage_json(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {name: getattr(usage, name) for name in usage.__struct_fields__}


def how_it_ended(report: Report) -> str:
    """In words. A quiet end is a failure, and said to be one."""
    record = report.record
    if record is None:
        return "you stopped it before its end"
    if record.failure is None:
        return report.outcome
    words = record.reason or record.code or ""
    return f"failed: {record.failure}, {words}" if words else f"failed: {record.failure}"


def _table(report: Report) -> Iterator[tuple[str, str]]:
    yield "ended", _with(how_it_ended(report), report.why)
    yield "status", _status(report)
    yield from _moments(report)
    yield "events", f"{report.types.total()}, {report.sizes.total()} bytes; held {report.held}"
    for name, count in report.types.most_common():
        yield "", f"{count:>6}  {name}, {report.sizes[name]} bytes"
    yield "usage", _usage(report.usage)
    yield "response id", report.response_id or "none"
    yield "request id", report.request_id or "none"
    if report.behind:
        yield "behind the end", f"{report.behind} bytes"
    yield "latchway", _verdict(report)


def _with(text: str, why: str | None) -> str:
    return text if why is None else f"{text} ({why})"


def _status(report: Report) -> str:
    if report.status is None:
        return "none came"
    if report.status == HTTPStatus.SWITCHING_PROTOCOLS:
        return "101, a WebSocket is open"
    return f"{report.status}, {report.content_type or 'no content type'}"


def _moments(report: Report) -> Iterator[tuple[str, str]]:
    """Seconds since the watch began."""
    way = {"connected": report.connected, "sent": report.sent, "status line": report.headed}
    came = sorted((at, name) for name, at in way.items() if at is not None)
    yield "on the way", ", ".join(f"{name} {_seconds(at)}" for at, name in came) or "no connection"
    yield "first event", _seconds(report.first_event)
    yield "first output", _seconds(report.first_output)
    last = "" if report.last_event is None else f", the last event {_seconds(report.last_event)}"
    yield "end", f"{_seconds(report.ended)}{last}"


def _seconds(at: float | None) -> str:
    return "never" if at is None else f"{at:.3f} s"


def _usage(usage: Usage | None) -> str:
    """The two that are always there, and of the others what is not zero."""
    if usage is None:
        return "none came"
    parts = [f"{usage.input_tokens} tokens in", f"{usage.output_tokens} out"]
    for name in ("cached_tokens", "cache_write_tokens", "reasoning_tokens"):
        if count := getattr(usage, name):
            parts.append(f"{count} of them {name.removesuffix('_tokens').replace('_', ' ')}")
    return ", ".join(parts)


def _verdict(report: Report) -> str:
    record = report.record
    if record is None or record.verdict is None:
        return "nothing failed that it would decide about"
    sentence = SENTENCE[Verdict(record.verdict)]
    return f"{record.verdict} ({record.rule}): {sentence}"
