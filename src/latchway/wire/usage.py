"""What an upstream says it metered, and whether that can be true (R1.3, R6).

Two questions with different answers: *was anything metered* (then a replay would run paid work
twice), and *can it be billed*. A usage that cannot be true says yes to the first, no to the second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from latchway.wire.frame import Usage

MAX_TOKENS = 1_000_000_000
"""Tokens in one count. No model's context is within three orders of it: beyond, it is no count."""

_DETAILS = ("input_tokens_details", "output_tokens_details")


class Metering(NamedTuple):
    """`usage` is None when it is missing, not whole, or `absurd`: there, and not possibly true."""

    metered: bool
    usage: Usage | None
    absurd: bool


NOTHING = Metering(False, None, False)
_ABSURD = Metering(True, None, True)


class _CannotBeTrue(Exception):
    """A count is no count, or a part is larger than its whole."""


def metering(*objects: Any) -> Metering:
    """Read the usage objects of one event, the one to be billed first; never raises.

    Each is a decoded JSON value, None where the event has none. Either of them meters; the bill
    goes by the first that is usable.
    """
    found = [_read(value) for value in objects if value is not None]
    if not found:
        return NOTHING
    if len(found) == 1:
        return found[0]
    return Metering(
        any(one.metered for one in found),
        next((one.usage for one in found if one.usage is not None), None),
        any(one.absurd for one in found),
    )


def _read(value: Any) -> Metering:
    try:
        usage = _usage(value)
    except _CannotBeTrue:
        return _ABSURD
    return Metering(_says_more_than_zero(value), usage, False)


def _usage(value: Any) -> Usage | None:
    """The usage, or None if one of its two totals is missing. Raises _CannotBeTrue."""
    top = _object(value)
    inside, outside = (_object(top.get(name)) for name in _DETAILS)
    _count(top, "total_tokens")
    taken, made = _count(top, "input_tokens"), _count(top, "output_tokens")
    cached, written = _count(inside, "cached_tokens"), _count(inside, "cache_write_tokens")
    reasoning = _count(outside, "reasoning_tokens")
    if taken is None or made is None:
        return None
    usage = Usage(taken, made, cached or 0, written or 0, reasoning or 0)
    _parts_fit(usage)
    return usage


def _parts_fit(usage: Usage) -> None:
    if usage.cached_tokens + usage.cache_write_tokens > usage.input_tokens:
        raise _CannotBeTrue
    if usage.reasoning_tokens > usage.output_tokens:
        raise _CannotBeTrue


def _object(value: Any) -> dict[str, Any]:
    """A JSON object; null or missing is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _CannotBeTrue
    return value


def _count(holder: dict[str, Any], name: str) -> int | None:
    """A number of tokens; None: missing. A float is one only if it is zero, a bool never."""
    value = holder.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value == 0:
        return 0
    if type(value) is not int or not 0 <= value <= MAX_TOKENS:
        raise _CannotBeTrue
    return value


def _says_more_than_zero(value: Any) -> bool:
    """Is there a number other than zero anywhere in it, under a name that we know or not?

    Walked without recursion: how deep it is nested is the upstream's choice.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, int | float) and not isinstance(item, bool) and item != 0:
            return True
    return False
