"""What an event means: its class, its text, and what it says of the response (R1.3, R4).

`KINDS` lists all that is **not** output. Everything else is output, and so is what cannot be read:
the mistake that is left costs a replay and never duplicates one.

Nothing here raises on what an upstream sends. A value of the wrong type counts as missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from latchway.values import replace
from latchway.wire import marks
from latchway.wire.decode import (
    NO_OUTPUT,
    Event,
    Output,
    Response,
    decode,
    decode_event,
    decode_plain,
    leniently,
)
from latchway.wire.frame import Frame, Kind, Note, Run
from latchway.wire.marks import NO_ITEM
from latchway.wire.usage import metering

KINDS: Final[dict[str, Kind]] = {
    "response.created": Kind.LIFECYCLE,
    "response.in_progress": Kind.LIFECYCLE,
    "response.queued": Kind.LIFECYCLE,
    "keepalive": Kind.NEUTRAL,
    "ping": Kind.NEUTRAL,
    "codex.keepalive": Kind.NEUTRAL,
    "codex.rate_limits": Kind.NEUTRAL,
    "response.completed": Kind.COMPLETED,
    "response.incomplete": Kind.INCOMPLETE,
    "response.failed": Kind.FAILED,
    "error": Kind.ERROR,
    "response.error": Kind.ERROR,
}
"""Every type that is not output, with its class."""

FAILURES: Final = frozenset({Kind.FAILED, Kind.ERROR})
_RESULTS: Final = frozenset({Kind.COMPLETED, Kind.INCOMPLETE})
TERMINAL: Final = FAILURES | _RESULTS
TAKEN: Final = frozenset({Kind.OUTPUT, Kind.COMPLETED, Kind.INCOMPLETE})
"""Kinds that are output or a result, whatever stands in them."""

_NAMED = {name.encode(): kind for name, kind in KINDS.items()}
_NAMED_FAILURES = {name: kind for name, kind in _NAMED.items() if kind in FAILURES}

_OUTPUT = Kind.OUTPUT
"""Looked up once: an enumeration's member costs as much as all else of a class's lookup."""

_NOT_TEXT = "response.audio.delta"
"""The one delta whose string is no text: sound in base64."""

_NOT_PLAIN = frozenset({*KINDS, _NOT_TEXT})
"""Types of which a run of plain output has none."""

_FLAT = ("code", "message", "param")
"""Members of an `error` event that keeps its error at the top (the published schema's shape)."""

_OUTPUT_TEXT = frozenset({"text", "arguments", "refusal", "summary", "input", "code"})
"""Members of `output` that hold what a stream would have sent as deltas."""

RESPONSES = ("response", "response.compaction")
"""`object` of what is a whole result."""

_STATUS_KINDS = {"failed": Kind.FAILED, "incomplete": Kind.INCOMPLETE}
"""The class of a whole answer; every other status is a result (R2, "Not streamed")."""

_KIND_TYPES = {
    Kind.COMPLETED: b"response.completed",
    Kind.INCOMPLETE: b"response.incomplete",
    Kind.FAILED: b"response.failed",
}

_NO_RESPONSE = Response()

_BOM = b"\xef\xbb\xbf"

_Said = TypeVar("_Said")


def frame(data: bytes, block: bytes, name: bytes = b"") -> Frame:
    """Make the frame of one event. `data`: its JSON; `name`: its `event:` line, if it has one."""
    try:
        event = decode_event(data)
    except (msgspec.MsgspecError, RecursionError):
        read = leniently(data, Event)
        if read is None:
            return Frame(_OUTPUT, data, block)
        event = read
    kind = _kind(event.type, name)
    if kind is not _OUTPUT:
        said, made = _note(event, kind), _made(event.response, kind)
        return Frame(kind, data, block, _unmetered_bytes(event, kind, said), said, made)
    if event.item is NO_ITEM and event.usage is None and event.response is None:
        return Frame(_OUTPUT, data, block, _delta_bytes(event))
    note, made = _metered_note(event), marks.of_item(event.item)
    return Frame(_OUTPUT, data, block, _delta_bytes(event), note, made)


def run(each: Sequence[bytes], block: bytes, name: bytes = b"") -> Run | None:
    """The frame of several events at once, if all are plain output: the arguments are `frame`'s.
    None: not all of them are, or it cannot be told so cheaply; `frame` can."""
    try:
        events = list(map(decode_plain, each))
    except (msgspec.MsgspecError, RecursionError):
        return None
    if name in _NAMED_FAILURES or not _NOT_PLAIN.isdisjoint([event.type for event in events]):
        return None
    text = "".join([event.delta for event in events])
    return Run(_OUTPUT, each[-1], block, len(text.encode()), each=each)


def answer_note(body: bytes) -> Note:
    """What the body of an HTTP error, or a 200's JSON error, says; `Note()` if it is no object.

    Only a nested `error` object is carried over as `error`; the code and the marks are read at
    the top, too.
    """
    event = decode(body.removeprefix(_BOM), Event)
    if event is None:
        return Note()
    note = _note(event, Kind.ERROR)
    return note if isinstance(event.error, dict) else replace(note, error=None)


def whole_answer(body: bytes, streamed: bool) -> Frame | None:
    """A JSON response object as the turn's one result; None if it is no response object.

    Not streamed, the body is the answer, byte for byte. Streamed, the terminal event is made
    around it (R2, "A 200 that is no event stream").
    """
    text = body.removeprefix(_BOM)
    response = decode(text, Response)
    if response is None or response.object not in RESPONSES:
        return None
    kind = _STATUS_KINDS.get(_text(response.status) or "", Kind.COMPLETED)
    note = _note(Event(response=response), kind)
    text_bytes = _output_bytes(text) if note.usage is None else 0
    made = _made(response, kind)
    if not streamed:
        return Frame(kind, body, body, text_bytes, note, made)
    data = _as_event(_KIND_TYPES[kind], text)
    block = b"event: %b\ndata: %b\n\n" % (_KIND_TYPES[kind], data)
    return Frame(kind, data, block, text_bytes, note, made)


def _as_event(name: bytes, body: bytes) -> bytes:
    """A line break in JSON that can be read is white space between tokens: a blank is the same."""
    line = body.strip().replace(b"\r", b" ").replace(b"\n", b" ")
    return b'{"type":"%b","sequence_number":0,"response":%b}' % (name, line)


def _kind(said: Any, name: bytes) -> Kind:
    """The JSON's type wins over the `event:` line, unless that one alone tells of a failure."""
    typed = isinstance(said, str)
    kind = KINDS.get(said, _OUTPUT) if typed else _NAMED.get(name, _OUTPUT)
    if name in _NAMED_FAILURES and kind not in TERMINAL:
        return _NAMED_FAILURES[name]
    return kind


def _delta_bytes(event: Event) -> int:
    delta = event.delta
    if not isinstance(delta, str) or event.type == _NOT_TEXT:
        return 0
    return len(delta) if delta.isascii() else len(delta.encode())


def _unmetered_bytes(event: Event, kind: Kind, note: Note) -> int:
    """The text of a result that nobody metered: it may have come without deltas."""
    if kind not in _RESULTS or note.usage is not None or event.response is None:
        return 0
    return _output_bytes(b'{"output":%b}' % event.response.output)


def _output_bytes(body: bytes) -> int:
    """UTF-8 bytes of the text in a response's `output`."""
    holder = decode(body, Output)
    return 0 if holder is None else _text_within(holder.output)


def _text_within(value: Any) -> int:
    """Walked without recursion: how deep it is nested is the upstream's choice."""
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            texts = (item.get(name) for name in _OUTPUT_TEXT)
            total += sum(len(text.encode()) for text in texts if isinstance(text, str))
            waiting.extend(item.values())
    return total


def _note(event: Event, kind: Kind) -> Note:
    response = event.response or _NO_RESPONSE
    metered, usage, absurd = metering(response.usage, event.usage)
    note = Note(
        response_id=_text(response.id),
        created_at=_number(response.created_at),
        model=_text(response.model),
        status=_text(response.status),
        metered=metered,
        usage=usage,
        usage_absurd=absurd,
        output=kind not in TAKEN and _holds_items(response.output),
    )
    return _with_error(note, event, response) if kind in FAILURES else note


def _with_error(note: Note, event: Event, response: Response) -> Note:
    levels = _error_levels(event, response)
    return replace(
        note,
        code=_first(_code, "code", levels),
        retryable=_first(_mark, "retryable", levels),
        retry_after=_first(_number, "retry_after", levels),
        error=_error(levels),
    )


def _holds_items(output: msgspec.Raw) -> bool:
    """Is it a list with something in it?"""
    if output is NO_OUTPUT:
        return False
    text = bytes(output)
    return text.startswith(b"[") and text[1:].strip() != b"]"


def _made(response: Response | None, kind: Kind) -> tuple[bytes, ...]:
    return marks.of_output(response.output) if response is not None and kind in TAKEN else ()


def _metered_note(event: Event) -> Note | None:
    """An output event says nothing but its text, save where usage stands in it."""
    if event.usage is None and event.response is None:
        return None
    note = _note(event, Kind.OUTPUT)
    return note if note.metered or note.usage is not None else None


def _error_levels(event: Event, response: Response) -> list[dict[str, Any]]:
    """Where a failure may say something, the most precise first; the event's top is the last."""
    nested = [error for error in (response.error, event.error) if isinstance(error, dict)]
    top = {name: getattr(event, name) for name in (*_FLAT, "retryable", "retry_after")}
    return [*nested, top]


def _error(levels: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The nested error object, else the flat one, else None."""
    if len(levels) > 1:
        return levels[0]
    return {name: top[name] for top in levels for name in _FLAT if top[name] is not None} or None


def _first(
    read: Callable[[Any], _Said | None], name: str, levels: list[dict[str, Any]]
) -> _Said | None:
    values = (read(level.get(name)) for level in levels)
    return next((value for value in values if value is not None), None)


def _text(value: Any) -> str | None:
    """A string that says something."""
    return value if isinstance(value, str) and value else None


def _code(value: Any) -> str | None:
    """A code is a name, or a number that some servers put there: its digits."""
    return str(value) if type(value) is int else _text(value)


def _mark(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= sys.float_info.max else None
