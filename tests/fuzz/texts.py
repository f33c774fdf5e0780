"""JSON as upstreams and clients write it, and as nobody should: made as text, not from values.

A fuzzer that only dumps Python values would never write a member twice, a NaN or half a character.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fuzz.dice import Dice

SCALARS = (
    "null", "true", "false", "0", "1", "-1", "7", "1.0", "0.0", "-0", "-0.0", "1e3", "1e-9",
    "1e999", "1000000000", "1000000001", "18446744073709551616", "9" * 40, "NaN", "-Infinity",
    '""', '"x"', '"a b"', '"\\u00e9"', '"é"', '"\u2028"', '"\\ud83d\\ude00"', '"\\ud800"',
    '"\\u0000"', '"\\n"', '"\\""', '"data: : x"', '"10"', "{}", "[]", "[null]", '{"a":1}', "01",
    "tru",
)  # fmt: skip

SPACES = ("", "", "", "", " ", "  ", "\t", "\n", "\r\n")

DEEP = 1500
"""Levels of nesting that no reader follows to the end by recursion."""

Maker = Callable[[Dice], str]
Fields = Mapping[str, Maker | Sequence[str]]
"""Of an object: the texts that a member may have, or what makes one."""


def scalar(dice: Dice) -> str:
    return dice.pick(SCALARS)


def anything(dice: Dice) -> str:
    """Mostly a scalar; some lists and objects; seldom one that is very deep."""
    kind = dice.below(100)
    if kind < 80:
        return scalar(dice)
    if kind < 90:
        return listed([anything(dice) for _ in range(dice.few())])
    if kind < 99:
        return "{" + ",".join(f'"{dice.pick("abc")}":{anything(dice)}' for _ in range(2)) + "}"
    return _deep(dice)


def _deep(dice: Dice) -> str:
    levels = dice.pick((20, 127, 128, 129, 300, DEEP))
    opening, closing = dice.pick((("[", "]"), ('{"a":', "}")))
    return opening * levels + scalar(dice) + closing * levels


def listed(items: Sequence[str]) -> str:
    return "[" + ",".join(items) + "]"


def record(dice: Dice, fields: Fields, odd: float = 0.05, kept: float = 0.6) -> str:
    """An object with some of these fields. `odd`: the share of members with a wrong value;
    `kept`: of fields that are there. One in fifty objects has a member twice."""
    names = [name for name in fields if dice.chance(kept)]
    if names and dice.chance(0.02):
        names.append(dice.pick(names))
    space = dice.pick(SPACES)
    members = [f'"{name}":{space}{_member(dice, fields[name], odd)}' for name in names]
    return "{" + space + f",{space}".join(members) + "}"


def _member(dice: Dice, made: Maker | Sequence[str], odd: float) -> str:
    if dice.chance(odd):
        return anything(dice)
    return made(dice) if callable(made) else dice.pick(made)


def encoded(text: str) -> bytes:
    """As UTF-8; half a surrogate pair, which has none, as the bytes that some writers put there."""
    return text.encode("utf-8", "surrogatepass")
