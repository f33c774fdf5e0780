"""Small damages to bytes: what a bad line, a bad program or a bad intent would do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fuzz.dice import Dice

MOST_BYTES = 1 << 15
"""Of a mutated input: splices may double one, and the time goes to many small inputs instead."""

MOST_DAMAGES = 4

TOKENS = (
    b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b":", b" ", b"\t", b",", b'"', b"\\", b"\\ud800", b"{", b"}", b"[", b"]", b"{}", b"[]",
    b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-0", b"-1", b"1.5", b"9" * 25, b"0",
    b"data: ", b"event: ", b"event: error\n", b"id: 1\n", b"retry: 1\n", b"data: [DONE]\n\n",
    b"*a", b"&a ", b"<<: ", b"${A}", b"${", b"# ", b"- ", b"---\n", b"!!str ", b"%",
)  # fmt: skip


def mutated(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    """`data` after 1 to MOST_DAMAGES damages; `others`: what may be spliced into it."""
    for _ in range(1 + dice.below(MOST_DAMAGES)):
        data = dice.pick(DAMAGES)(dice, data, others)
    return data[:MOST_BYTES]


def _flip(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    at = dice.below(len(data) + 1)
    return (
        data[:at] + bytes(each ^ 1 << dice.below(8) for each in data[at : at + 1]) + data[at + 1 :]
    )


def _insert(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    at = dice.below(len(data) + 1)
    return data[:at] + dice.pick(TOKENS) + data[at:]


def _overwrite(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    at, token = dice.below(len(data) + 1), dice.pick(TOKENS)
    return data[:at] + token + data[at + len(token) :]


def _cut(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    """The end is missing: a stream that broke."""
    return data[: dice.below(len(data) + 1)]


def _remove(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    start, stop = _span(dice, data)
    return data[:start] + data[stop:]


def _repeat(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    start, stop = _span(dice, data)
    return data[:stop] + data[start:stop] * (1 + dice.below(3)) + data[stop:]


def _splice(dice: Dice, data: bytes, others: Sequence[bytes]) -> bytes:
    """A piece of another input in the place of a piece of this one."""
    other = dice.pick(others) if others else data
    start, stop = _span(dice, data)
    first, last = _span(dice, other)
    return data[:start] + other[first:last] + data[stop:]


def _span(dice: Dice, data: bytes) -> tuple[int, int]:
    """A piece of the bytes, mostly a short one."""
    start = dice.below(len(data) + 1)
    longest = len(data) - start if dice.chance(0.3) else 16
    return start, min(len(data), start + dice.below(longest + 1))


DAMAGES: tuple[Callable[[Dice, bytes, Sequence[bytes]], bytes], ...] = (
    _flip, _insert, _insert, _overwrite, _cut, _remove, _repeat, _splice,
)  # fmt: skip
