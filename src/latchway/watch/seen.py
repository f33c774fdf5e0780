"""What is told of a watched turn: each event, each remark, and the report at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from latchway.turn.commands import AttemptRecord
from latchway.wire.frame import Frame, Kind, Usage

CLASSES = {
    Kind.LIFECYCLE: "lifecycle",
    Kind.NEUTRAL: "neutral",
    Kind.OUTPUT: "output",
    Kind.COMPLETED: "terminal",
    Kind.INCOMPLETE: "terminal",
    Kind.FAILED: "terminal",
    Kind.ERROR: "terminal",
}
"""The four classes of R4."""

TYPES_MAX = 200
"""Types that are counted one by one; the API has about sixty, and memory is bounded."""
OTHER_TYPES = "(other types)"

TEXT_CHARACTERS = 16 << 10
"""Of a text that is kept until it is shown: twice what a credential may have, so that one which
stands where the shown part ends is found whole."""


class Fate(Enum):
    """What becomes of an event when it comes."""

    PASSED = "passed"
    HELD = "held"
    DROPPED = "dropped"
    """It stands behind the end, or belongs to a failure that is replayed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One event. Seconds since the watch began, and since the event before; bytes of its JSON."""

    at: float
    gap: float
    type: str
    number: int | None
    size: int
    class_: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that is no event, in words."""

    at: float
    text: str


@dataclass(slots=True)
class Report:
    """What is known of the turn so far. Seconds since the watch began."""

    status: int | None = None
    content_type: str | None = None
    request_id: str | None = None
    connected: float | None = None
    sent: float | None = None
    headed: float | None = None
    first_event: float | None = None
    first_output: float | None = None
    last_event: float | None = None
    ended: float = 0.0
    types: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    held: int = 0
    behind: int = 0
    """Bytes that came behind the end."""
    outcome: str = "stopped"
    """completed | incomplete | failed | stopped (by who watches)"""
    why: str | None = None
    """Of an incomplete result its reason, of a failure what the error's message says."""
    record: AttemptRecord | None = None
    usage: Usage | None = None
    response_id: str | None = None

    def count(self, seen: Seen) -> None:
        """Take one event in."""
        name = seen.type if seen.type in self.types or len(self.types) < TYPES_MAX else OTHER_TYPES
        self.types[name] += 1
        self.sizes[name] += seen.size
        self.held += seen.fate is Fate.HELD
        self.last_event = seen.at
        if self.first_event is None:
            self.first_event = seen.at
        if self.first_output is None and seen.class_ == CLASSES[Kind.OUTPUT]:
            self.first_output = seen.at


class _Named(msgspec.Struct):
    type: object = None
    sequence_number: object = None


class _Details(msgspec.Struct):
    reason: str | None = None


class _Cut(msgspec.Struct):
    incomplete_details: _Details | None = None


class _Result(msgspec.Struct):
    response: _Cut | None = None


def name_and_number(payload: bytes, kind: Kind) -> tuple[str, int | None]:
    """An event's type and sequence number; its class where it has no type."""
    try:
        named = msgspec.json.decode(payload, type=_Named)
    except (msgspec.MsgspecError, RecursionError):
        named = _Named()
    number = named.sequence_number
    name = named.type[:TEXT_CHARACTERS] if isinstance(named.type, str) else f"({kind.value})"
    return name, number if type(number) is int else None


def cut_reason(frame: Frame) -> str | None:
    """Why a result is incomplete, if it says so."""
    try:
        found = msgspec.json.decode(frame.data, type=_Result).response
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found.incomplete_details.reason if found and found.incomplete_details else None
