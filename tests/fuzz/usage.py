"""Usage: never raises; what can be billed can be true; what is not all zero is metered (R1.3, R6).

The second opinion is written from the rule, without a look at the first.
"""

from __future__ import annotations

import json
from typing import Any

from fuzz import texts
from fuzz.dice import Dice
from fuzz.engine import Target
from latchway.wire.usage import metering

MOST = 1_000_000_000
COUNTS = ("0", "0", "1", "5", "10", "100", "0.0", "1000000000", "1000000001", "-1", "null", "1.5")
INSIDE: texts.Fields = {"cached_tokens": COUNTS, "cache_write_tokens": COUNTS}
OUTSIDE: texts.Fields = {"reasoning_tokens": COUNTS}
USAGE: texts.Fields = {
    "input_tokens": COUNTS,
    "input_tokens_details": lambda dice: texts.record(dice, INSIDE),
    "output_tokens": COUNTS,
    "output_tokens_details": lambda dice: texts.record(dice, OUTSIDE),
    "total_tokens": COUNTS,
    "cost": COUNTS,
    "server_tool_use": lambda dice: texts.record(dice, {"web_search_requests": COUNTS}),
}
KNOWN = {
    "input_tokens_details": ("cached_tokens", "cache_write_tokens"),
    "output_tokens_details": ("reasoning_tokens",),
}


def usage(dice: Dice) -> str:
    """A usage object: mostly plausible, some not possibly true."""
    return texts.record(dice, USAGE, odd=dice.pick((0, 0, 0.05, 0.3)), kept=0.8)


def make(dice: Dice) -> bytes:
    """A list of the usage objects of one event."""
    one_of = (usage, usage, usage, texts.anything)
    return texts.encoded(texts.listed([dice.pick(one_of)(dice) for _ in range(dice.below(3))]))


def check(data: bytes) -> None:
    objects = _read(data)
    said = metering(*objects)
    objects = [one for one in objects if one is not None]
    assert said.metered == any(impossible(one) or counts_something(one) for one in objects)
    assert said.absurd == any(impossible(one) for one in objects)
    billable = [one for one in objects if is_whole(one) and not impossible(one)]
    assert (said.usage is not None) == bool(billable)
    if said.usage is not None:
        first = billable[0]
        assert said.usage.input_tokens == first["input_tokens"]
        assert said.usage.output_tokens == first["output_tokens"]
        assert_true(said.usage)


def _read(data: bytes) -> list[Any]:
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else [value]


def assert_true(usage: Any) -> None:
    """What is billed obeys every constraint of protocol and arithmetic."""
    counts = [getattr(usage, name) for name in usage.__struct_fields__]
    assert all(type(count) is int and 0 <= count <= MOST for count in counts), usage
    assert usage.cached_tokens + usage.cache_write_tokens <= usage.input_tokens
    assert usage.reasoning_tokens <= usage.output_tokens


def counts_something(value: Any) -> bool:
    """Some number in it, at any depth, is not zero."""
    if isinstance(value, dict):
        return any(counts_something(member) for member in value.values())
    if isinstance(value, list):
        return any(counts_something(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0


def impossible(value: Any) -> bool:
    """It cannot be true: no object, no counts where counts belong, parts above their whole."""
    if not isinstance(value, dict):
        return True
    parts = {"": value, **{name: value.get(name) for name in KNOWN}}
    if not all(part is None or isinstance(part, dict) for part in parts.values()):
        return True
    names = {"": ("input_tokens", "output_tokens", "total_tokens"), **KNOWN}
    counts = {name: (parts[part] or {}).get(name) for part in names for name in names[part]}
    if any(_no_count(count) for count in counts.values()):
        return True
    return is_whole(value) and _parts_exceed(counts)


def is_whole(value: Any) -> bool:
    """Both totals are there."""
    totals = ("input_tokens", "output_tokens")
    return isinstance(value, dict) and all(value.get(name) is not None for name in totals)


def _no_count(value: Any) -> bool:
    if value is None or (type(value) is float and value == 0.0):
        return False
    return type(value) is not int or value < 0 or value > MOST


def _parts_exceed(counts: dict[str, Any]) -> bool:
    of = {name: count or 0 for name, count in counts.items()}
    if of["cached_tokens"] + of["cache_write_tokens"] > of["input_tokens"]:
        return True
    return bool(of["reasoning_tokens"] > of["output_tokens"])


TARGET = Target("usage", make, check, inputs=380_000)
