"""What is reserved bounds what can be charged; an estimate stays within it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.ledger.prices import charge
from latchway.ledger.reservation import amount, estimate
from latchway.settings import Model, Price
from latchway.wire.frame import Usage
from latchway.wire.request import Request

PRICE = Price(input=3_000_000, cached_input=1_000_000, output=7_000_000, reasoning=9_000_000)


def model(**changed: Any) -> Model:
    values: dict[str, Any] = {
        "name": "m", "price": PRICE, "free": False, "context_tokens": None,
        "max_output_tokens": 50, "routes": (),
    }  # fmt: skip
    return Model(**(values | changed))


def request(size: int = 100, **changed: Any) -> Request:
    values: dict[str, Any] = {
        "body": b"", "fields": {}, "prompt_bytes": size, "model": "m", "streamed": True,
        "websocket": False,
        "store": None, "previous_response_id": None, "conversation": None, "origin_field": None,
        "encrypted_field": None, "pinned_route": None, "acting_tool": None, "background": False,
        "max_output_tokens": None, "partial_input": False,
    }  # fmt: skip
    return Request(**(values | changed))


AMOUNTS = [
    # why, model, request, input tokens, output tokens
    ("the request's bytes", model(), request(), 100, 50),
    ("a smaller context", model(context_tokens=40), request(), 40, 50),
    ("a context that is never filled", model(context_tokens=400), request(), 100, 50),
    ("input elsewhere", model(context_tokens=400), request(partial_input=True), 400, 50),
    ("the request's own maximum", model(), request(max_output_tokens=20), 100, 20),
    ("never above the model's", model(), request(max_output_tokens=999), 100, 50),
    ("never below nothing", model(), request(max_output_tokens=-5), 100, 0),
]


@pytest.mark.parametrize(("why", "model", "request_", "tokens_in", "tokens_out"), AMOUNTS)
def test_bounds(why: str, model: Model, request_: Request, tokens_in: int, tokens_out: int) -> None:
    assert amount(model, request_) == tokens_in * 3 + tokens_out * 9, why


def test_a_free_model_reserves_nothing_and_needs_no_bounds() -> None:
    free = model(free=True, price=Price(), max_output_tokens=None)
    assert amount(free, request(partial_input=True)) == 0


def test_a_bound_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="max_output_tokens"):
        amount(model(max_output_tokens=None), request())
    with pytest.raises(ValueError, match="context_tokens"):
        amount(model(), request(partial_input=True))


@given(
    prices=st.lists(st.integers(0, 10**10), min_size=5, max_size=5),
    tokens_in=st.integers(0, 100),
    cached=st.integers(0, 100),
    written=st.integers(0, 100),
    tokens_out=st.integers(0, 50),
    thought=st.integers(0, 50),
)
def test_no_usage_within_the_bounds_costs_more(
    prices: list[int], tokens_in: int, cached: int, written: int, tokens_out: int, thought: int
) -> None:
    cached = min(cached, tokens_in)
    usage = Usage(
        tokens_in, tokens_out, cached, min(written, tokens_in - cached), min(thought, tokens_out)
    )
    price = Price(*prices)
    assert charge(usage, price) <= amount(model(price=price), request())


def test_an_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    usage, charged = estimate(101, 9, PRICE, reserved=10**6)
    assert usage == Usage(input_tokens=26, output_tokens=3)
    assert charged == 26 * 3 + 3 * 7


def test_an_estimate_stays_within_the_reservation() -> None:
    usage, charged = estimate(10_000, 10_000, PRICE, reserved=55)
    assert (usage.input_tokens, charged) == (2500, 55)
