"""What an event means: its class, its text, and what it says of the response (R1.3, R4).

`KINDS` lists all that is **not** output. Everything else is output, and so is what cannot be read:
the mistake that is left costs a replay and never duplicates one (protocol.md 1.1, 1.2).

Nothing here raises on what an upstream sends. A value of the wrong type counts as missing.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any, Final, TypeVar

import msgspec

from latchway.wire.frame import Frame, Kind, Note
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
TERMINAL: Final = FAILURES | {Kind.COMPLETED, Kind.INCOMPLETE}

_NAMED = {name.encode(): kind for name, kind in KINDS.items()}
_NAMED_FAILURES = {name: kind for name, kind in _NAMED.items() if kind in FAILURES}

_OUTPUT = Kind.OUTPUT
"""Looked up once: an enumeration's member costs as much as all else of a class's lookup."""

_NOT_TEXT = "response.audio.delta"
"""The one delta whose string is no text: sound in base64."""

_FLAT = ("code", "message", "param")
"""Members of an `error` event that keeps its error at the top (the published schema's shape)."""

_OUTPUT_TEXT = frozenset({"text", "arguments", "refusal", "summary", "input", "code"})
"""Members of `output` that hold what a stream would have sent as deltas."""

_STATUS_KINDS = {"failed": Kind.FAILED, "incomplete": Kind.INCOMPLETE}
"""The class of a whole answer; every other status is a result (R2, "Not streamed")."""

_KIND_TYPES = {
    Kind.COMPLETED: b"response.completed",
    Kind.INCOMPLETE: b"response.incomplete",
    Kind.FAILED: b"response.failed",
}

_BOM = b"\xef\xbb\xbf"


class _Response(msgspec.Struct, gc=False):
    """The members of a response object that are read; the rest is skipped, never built."""

    id: Any = None
    object: Any = None
    created_at: Any = None
    model: Any = None
    status: Any = None
    usage: Any = None
    error: Any = None


class _Event(msgspec.Struct, gc=False):
    """The members of an event that are read. `Any`: a wrong type must not fail the whole."""

    type: Any = None
    delta: Any = None
    response: _Response | None = None
    usage: Any = None
    error: Any = None
    code: Any = None
    message: Any = None
    param: Any = None
    retryable: Any = None
    retry_after: Any = None


class _Output(msgspec.Struct, gc=False):
    output: Any = None


_Shape = TypeVar("_Shape", _Event, _Response, _Output)

_EVENT = msgspec.json.Decoder(_Event)


def frame(data: bytes, block: bytes, name: bytes = b"") -> Frame:
    """Make the frame of one event. `data`: its JSON; `name`: its `event:` line, if it has one."""
    try:
        event = _EVENT.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        leniently = _leniently(data, _Event)
        if leniently is None:
            return Frame(_OUTPUT, data, block)
        event = leniently
    kind = _kind(event.type, name)
    if kind is not _OUTPUT:
        return Frame(kind, data, block, 0, _note(event, kind))
    if event.usage is not None or event.response is not None:
        return Frame(_OUTPUT, data, block, _delta_bytes(event), _metered_note(event))
    return Frame(_OUTPUT, data, block, _delta_bytes(event))


def answer_note(body: bytes) -> Note:
    """What the body of an HTTP error, or a 200's JSON error, says; `Note()` if it is no object.

    Only a nested `error` object is carried over as `error`; the code and the marks are read at
    the top, too.
    """
    event = _decode(body.removeprefix(_BOM), _Event)
    if event is None:
        return Note()
    note = _note(event, Kind.ERROR)
    return note if isinstance(event.error, dict) else msgspec.structs.replace(note, error=None)


def is_response_object(body: bytes) -> bool:
    """Is this JSON body a whole response, whatever its status?"""
    response = _decode(body.removeprefix(_BOM), _Response)
    return response is not None and response.object == "response"


def whole_answer(body: bytes, streamed: bool) -> Frame | None:
    """A JSON response object as the turn's one result; None if it is no response object.

    Not streamed, the body is the answer, byte for byte. Streamed, the terminal event is made
    around it (R2, "A 200 that is no event stream").
    """
    text = body.removeprefix(_BOM)
    response = _decode(text, _Response)
    if response is None or response.object != "response":
        return None
    kind = _STATUS_KINDS.get(_text(response.status) or "", Kind.COMPLETED)
    note = _note(_Event(response=response), kind)
    text_bytes = _output_bytes(text) if note.usage is None else 0
    if not streamed:
        return Frame(kind, body, body, text_bytes, note)
    data = _as_event(_KIND_TYPES[kind], text)
    block = b"event: %b\ndata: %b\n\n" % (_KIND_TYPES[kind], data)
    return Frame(kind, data, block, text_bytes, note)


def _as_event(name: bytes, body: bytes) -> bytes:
    """A line break in JSON that can be read is white space between tokens: a blank is the same."""
    line = body.strip().replace(b"\r", b" ").replace(b"\n", b" ")
    return b'{"type":"%b","sequence_number":0,"response":%b}' % (name, line)


# ---- reading


def _decode(data: bytes, shape: type[_Shape]) -> _Shape | None:
    """The members of a JSON object that `shape` names, or None if it is no JSON object."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError):
        return _leniently(data, shape)


def _leniently(data: bytes, shape: type[_Shape]) -> _Shape | None:
    """As clients read it: NaN, lone surrogates, numbers out of range, and broken UTF-8 pass."""
    try:
        found = json.loads(
            data.decode("utf-8", "replace"), parse_constant=str, parse_float=_finite_or_text
        )
        found = _scrubbed(found)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if not isinstance(found.get("response"), dict):
        found.pop("response", None)
    return msgspec.convert(found, shape)


def _finite_or_text(digits: str) -> float | str:
    """A number that is not finite stays text, so that it is no number to whoever reads on."""
    value = float(digits)
    return value if math.isfinite(value) else digits


def _scrubbed(value: Any) -> Any:
    """The same value with half surrogate pairs replaced: text that can be encoded again."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {_scrubbed(name): _scrubbed(item) for name, item in value.items()}
    return value


# ---- meaning


def _kind(said: Any, name: bytes) -> Kind:
    """The JSON's type wins over the `event:` line, unless that one alone tells of a failure."""
    typed = isinstance(said, str)
    kind = KINDS.get(said, _OUTPUT) if typed else _NAMED.get(name, _OUTPUT)
    if name in _NAMED_FAILURES and kind not in TERMINAL:
        return _NAMED_FAILURES[name]
    return kind


def _delta_bytes(event: _Event) -> int:
    delta = event.delta
    if not isinstance(delta, str) or event.type == _NOT_TEXT:
        return 0
    return len(delta) if delta.isascii() else len(delta.encode())


def _output_bytes(body: bytes) -> int:
    """UTF-8 bytes of the text in a response's `output`."""
    holder = _decode(body, _Output)
    return 0 if holder is None else _text_within(holder.output)


def _text_within(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_text_within, value))
    if not isinstance(value, dict):
        return 0
    return sum(
        len(item.encode()) if isinstance(item, str) and name in _OUTPUT_TEXT else _text_within(item)
        for name, item in value.items()
    )


def _note(event: _Event, kind: Kind) -> Note:
    response = event.response or _Response()
    metered, usage, absurd = metering(response.usage, event.usage)
    levels = _error_levels(event, response) if kind in FAILURES else []
    return Note(
        response_id=_text(response.id),
        created_at=_number(response.created_at),
        model=_text(response.model),
        status=_text(response.status),
        metered=metered,
        usage=usage,
        usage_absurd=absurd,
        code=_first(_code, "code", levels),
        retryable=_first(_mark, "retryable", levels),
        retry_after=_first(_number, "retry_after", levels),
        error=_error(levels),
    )


def _metered_note(event: _Event) -> Note | None:
    """An output event says nothing but its text, save where usage stands in it."""
    note = _note(event, Kind.OUTPUT)
    return note if note.metered or note.usage is not None else None


def _error_levels(event: _Event, response: _Response) -> list[dict[str, Any]]:
    """Where a failure may say something, the most precise first; the event's top is the last."""
    nested = [error for error in (response.error, event.error) if isinstance(error, dict)]
    top = {name: getattr(event, name) for name in (*_FLAT, "retryable", "retry_after")}
    return [*nested, top]


def _error(levels: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The nested error object, else the flat one, else None."""
    if len(levels) > 1:
        return levels[0]
    return {name: top[name] for top in levels for name in _FLAT if top[name] is not None} or None


def _first(read: Any, name: str, levels: list[dict[str, Any]]) -> Any:
    values = (read(level.get(name)) for level in levels)
    return next((value for value in values if value is not None), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _code(value: Any) -> str | None:
    """A code is a name, or a number that some servers put there: its digits."""
    if type(value) is int:
        return str(value)
    return _text(value) or None


def _mark(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= sys.float_info.max else None
