"""JSON from an upstream, read for the few members that matter; the rest is skipped, never built.

Fast and strict first. What that refuses is read once more as leniently as clients read it, for an
event that a client understands must not mean less to the gateway.
"""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

import msgspec

from latchway.wire.marks import NO_ITEM

NO_OUTPUT = msgspec.Raw(b"[]")


class Response(msgspec.Struct, gc=False):
    """The members of a response object that are read."""

    id: Any = None
    object: Any = None
    created_at: Any = None
    model: Any = None
    status: Any = None
    usage: Any = None
    error: Any = None
    output: msgspec.Raw = NO_OUTPUT
    """Unread: the output of a whole answer may be large."""


class Event(msgspec.Struct, gc=False):
    """The members of an event that are read. `Any`: a wrong type must not fail the whole."""

    type: Any = None
    delta: Any = None
    response: Response | None = None
    item: msgspec.Raw = NO_ITEM
    usage: Any = None
    error: Any = None
    code: Any = None
    message: Any = None
    param: Any = None
    retryable: Any = None
    retry_after: Any = None


class Plain(msgspec.Struct, gc=False):
    """An event that says nothing but its type and its text; any other does not fit."""

    type: str
    delta: str = ""
    response: None = None
    item: None = None
    usage: None = None


UNREAD = frozenset({"item", "output"})
"""Members of these shapes that are left in their bytes."""


class Output(msgspec.Struct, gc=False):
    output: Any = None


Shape = TypeVar("Shape", Event, Response, Output)

decode_event = msgspec.json.Decoder(Event).decode
"""The strict half alone, for the data path."""

decode_plain = msgspec.json.Decoder(Plain).decode


def decode(data: bytes, shape: type[Shape]) -> Shape | None:
    """The members of a JSON object that `shape` names, or None if it is no JSON object."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError):
        return leniently(data, shape)


def leniently(data: bytes, shape: type[Shape]) -> Shape | None:
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
    if shape is not Output:
        _leave_items_unread(found)
    return msgspec.convert(found, shape)


def _leave_items_unread(found: dict[str, Any]) -> None:
    """As the strict reader does; `found` is read for nothing else than the named members."""
    for holder in (found, found.get("response", {})):
        for name in UNREAD & holder.keys():
            holder[name] = msgspec.Raw(json.dumps(holder[name]).encode())


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
