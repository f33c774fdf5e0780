"""What an event means to a client: its class, its error, and the words of it that we read.

`CLASSES` lists all that is **not** output. Everything else is output, and so is what cannot be
read: taking too much for output costs one resend; taking too little duplicates text.

Servers differ, so nothing here raises: a value of the wrong type counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

Event = dict[str, Any]
"""One event, as the server's JSON has it."""


class Class(StrEnum):
    """The classes of events."""

    LIFECYCLE = "lifecycle"
    NEUTRAL = "neutral"
    OUTPUT = "output"
    RESULT = "result"
    FAILURE = "failure"


CLASSES = {
    "response.created": Class.LIFECYCLE,
    "response.in_progress": Class.LIFECYCLE,
    "response.queued": Class.LIFECYCLE,
    "keepalive": Class.NEUTRAL,
    "ping": Class.NEUTRAL,
    "codex.keepalive": Class.NEUTRAL,
    "codex.rate_limits": Class.NEUTRAL,
    "response.completed": Class.RESULT,
    "response.incomplete": Class.RESULT,
    "response.failed": Class.FAILURE,
    "response.error": Class.FAILURE,
    "error": Class.FAILURE,
}
"""Every type that is not output, with its class."""

ENDS = frozenset({Class.RESULT, Class.FAILURE})
"""Classes of terminal events."""


def class_of(event: Event) -> Class:
    """The class of an event. Total."""
    kind = text_of(event, "type")
    if kind is None and mapping_of(event, "error"):
        return Class.FAILURE
    found = CLASSES.get(kind or "", Class.OUTPUT)
    if found is Class.RESULT and text_of(mapping_of(event, "response"), "status") == "failed":
        return Class.FAILURE
    return found


def read(data: str | bytes, name: str = "") -> Event:
    """An event from its JSON; `name`: the type that stands beside it, where the JSON has none.

    What is no JSON object becomes an event without a type, which is output.
    """
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        text = data if isinstance(data, str) else data.decode(errors="replace")
        return {"type": "", "data": text}
    if name:
        event.setdefault("type", name)
    return event


def written(event: Event) -> str:
    """The event as JSON."""
    return json.dumps(event, ensure_ascii=False)


def error_of(event: Event) -> Mapping[str, Any]:
    """The error of a failure: nested, in its response, or flat."""
    nested = mapping_of(event, "error") or mapping_of(mapping_of(event, "response"), "error")
    return nested or event


def mapping_of(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """That member if it is an object, else an empty one."""
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def text_of(values: Mapping[str, Any], name: str) -> str | None:
    """That member if it is a string that says something; a number counts as its digits."""
    found = values.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found else None


def number_of(values: Mapping[str, Any], name: str) -> float | None:
    """That member if it is a number that is not negative."""
    found = values.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found < float("inf") else None


def flag_of(values: Mapping[str, Any], name: str) -> bool | None:
    """That member if it is true or false."""
    found = values.get(name)
    return found if isinstance(found, bool) else None


def is_metered(event: Event) -> bool:
    """Does it count any token as used?"""
    usages = (mapping_of(mapping_of(event, "response"), "usage"), mapping_of(event, "usage"))
    return any(number_of(usage, name) for usage in usages for name in usage)
