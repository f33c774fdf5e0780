"""What an event means to a client: its class, its error, and the words of it that we read.

`CLASSES` lists all that is **not** output. Everything else is output, and so is what cannot be
read: taking too much for output costs one resend; taking too little duplicates text.

Servers differ, so nothing here raises: a value of the wrong type counts as missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

Event = dict[str, Any]
"""One event, as the server's JSON has it."""

_Said = TypeVar("_Said")


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
    """An event from its JSON. `name`: the type that stands beside it; it counts where the JSON has
    none, and where it alone tells of a failure.

    What is no JSON object becomes an event without a type, which is output.
    """
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        text = data if isinstance(data, str) else data.decode(errors="replace")
        return {"type": "", "data": text}
    tells = CLASSES.get(name) is Class.FAILURE and class_of(event) not in ENDS
    if name and (tells or not isinstance(event.get("type"), str)):
        event["type"] = name
    return event


def written(event: Event) -> str:
    """The event as JSON; what is nested too deeply to be written has its type alone."""
    try:
        return json.dumps(event, ensure_ascii=False)
    except RecursionError:
        return text_of(event, "type") or ""


def error_levels(event: Event) -> list[Mapping[str, Any]]:
    """Where a failure may say something, the most precise first; the event's top is the last."""
    nested = (mapping_of(mapping_of(event, "response"), "error"), mapping_of(event, "error"))
    return [*(error for error in nested if error), event]


def said(
    event: Event, read: Callable[[Mapping[str, Any], str], _Said | None], name: str
) -> _Said | None:
    """What a failure says under that name, on the most precise level that says something."""
    values = (read(level, name) for level in error_levels(event))
    return next((value for value in values if value is not None), None)


def mapping_of(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """That member if it is an object, else an empty one."""
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def items_of(values: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in that member, if it is a list."""
    found = values.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


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
    return float(found) if 0 <= found <= sys.float_info.max else None


def flag_of(values: Mapping[str, Any], name: str) -> bool | None:
    """That member if it is true or false."""
    found = values.get(name)
    return found if isinstance(found, bool) else None


def is_metered(event: Event) -> bool:
    """Does it count any token as used?"""
    usages = (mapping_of(mapping_of(event, "response"), "usage"), mapping_of(event, "usage"))
    return any(_counts(value) for usage in usages for value in usage.values())


def _counts(value: object) -> bool:
    """A figure that nobody can mean counts, too: it is no proof that nothing was used."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
