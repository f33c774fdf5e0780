"""Usage: was anything metered, and can it be billed (R1.3, R6)?"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchway.wire.frame import Usage
from latchway.wire.usage import MAX_TOKENS, NOTHING, Metering, metering

WHOLE = {
    "input_tokens": 13,
    "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 20,
}
ZERO = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


def pair(taken: Any, made: Any, **more: Any) -> dict[str, Any]:
    return {"input_tokens": taken, "output_tokens": made, **more}


USABLE = {
    "whole": (WHOLE, Usage(13, 7, 3, 2, 4)),
    "no details": (pair(13, 7), Usage(13, 7)),
    "null details": (pair(13, 7, input_tokens_details=None), Usage(13, 7)),
    "null parts": (pair(13, 7, output_tokens_details={"reasoning_tokens": None}), Usage(13, 7)),
    "all of it cached": (pair(5, 0, input_tokens_details={"cached_tokens": 5}), Usage(5, 0, 5)),
    "a float zero": (pair(5, 0.0), Usage(5, 0)),
    "the largest": (pair(MAX_TOKENS, 0), Usage(MAX_TOKENS, 0)),
    "names that we do not know": (pair(5, 1, cost="0.1", lists=[[]], x={"y": True}), Usage(5, 1)),
}


@pytest.mark.parametrize(("value", "usage"), USABLE.values(), ids=USABLE)
def test_usage_that_can_be_billed(value: Any, usage: Usage) -> None:
    assert metering(value) == Metering(True, usage, False)


NOTHING_METERED = {
    "missing": (None, None),
    "empty": ({}, None),
    "zero": (ZERO, Usage(0, 0)),
    "zero in parts": (pair(0, 0, input_tokens_details={"cached_tokens": 0}), Usage(0, 0)),
    "half of it, zero": ({"output_tokens": 0}, None),
    "null counts": (pair(None, None), None),
    "marks and words are no counts": (pair(0, 0, is_byok=True, tier="default"), Usage(0, 0)),
}


@pytest.mark.parametrize(("value", "usage"), NOTHING_METERED.values(), ids=NOTHING_METERED)
def test_usage_that_meters_nothing(value: Any, usage: Usage | None) -> None:
    assert metering(value) == Metering(False, usage, False)


NOT_WHOLE = {
    "input alone": {"input_tokens": 5},
    "output alone": {"output_tokens": 5},
    "a total alone": {"total_tokens": 5},
    "parts alone": {"input_tokens_details": {"cached_tokens": 5}},
    "the names of another dialect": {"prompt_tokens": 5, "completion_tokens": 1},
}


@pytest.mark.parametrize("value", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_usage_that_is_not_whole_meters_and_is_missing_for_the_bill(value: Any) -> None:
    assert metering(value) == Metering(True, None, False)


CANNOT_BE_TRUE = {
    "negative": pair(-5, 5),
    "negative part": pair(5, 5, input_tokens_details={"cached_tokens": -1}),
    "negative total": pair(5, 5, total_tokens=-10),
    "a bool": pair(True, 0),
    "false": pair(0, False),
    "a float": pair(10.0, 0),
    "NaN": pair(math.nan, 0),
    "infinite": pair(math.inf, 0),
    "a string": pair("10", "5"),
    "a string of zero": pair("0", 0),
    "too large": pair(MAX_TOKENS + 1, 0),
    "a list": pair([], 0),
    "more cached than taken": pair(5, 0, input_tokens_details={"cached_tokens": 6}),
    "more cached and written than taken": pair(
        5, 0, input_tokens_details={"cached_tokens": 3, "cache_write_tokens": 3}
    ),
    "more reasoning than output": pair(5, 1, output_tokens_details={"reasoning_tokens": 2}),
    "details that are no object": pair(5, 1, input_tokens_details=[]),
    "no object": "much",
    "a number": 0,
    "an array": [],
    "a mark": False,
}


@pytest.mark.parametrize("value", CANNOT_BE_TRUE.values(), ids=CANNOT_BE_TRUE)
def test_usage_that_cannot_be_true_meters_and_raises_an_alarm(value: Any) -> None:
    assert metering(value) == Metering(True, None, True)


def test_either_of_two_meters_and_the_first_usable_is_billed() -> None:
    assert metering() == metering(None, None) == NOTHING
    assert metering(None, WHOLE) == metering(WHOLE) == metering(WHOLE, pair(1, 1))
    assert metering(ZERO, pair(1, 1)) == Metering(True, Usage(0, 0), False)
    assert metering({}, WHOLE).usage == Usage(13, 7, 3, 2, 4)
    assert metering(WHOLE, "much") == Metering(True, Usage(13, 7, 3, 2, 4), True)


def test_usage_nested_without_end_is_walked() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert metering(pair(0, 0, deep=deep)) == Metering(True, Usage(0, 0), False)


names = st.sampled_from([*WHOLE, "cached_tokens", "cache_write_tokens", "reasoning_tokens", "x"])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=12
)


@settings(deadline=None)
@given(value=values)
def test_any_value_is_read_and_a_billed_usage_can_be_true(value: Any) -> None:
    metered, usage, absurd = metering(value)
    assert metered or not absurd
    assert not (absurd and usage)
    if usage is not None:
        assert 0 <= usage.cached_tokens + usage.cache_write_tokens <= usage.input_tokens
        assert 0 <= usage.reasoning_tokens <= usage.output_tokens
