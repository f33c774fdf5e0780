"""Amounts are whole nano-USD, rounded half up once a turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.ledger.prices import charge, format_usd, parse_usd, rounded
from latchway.settings import Price
from latchway.wire.frame import Usage

PRICE = Price(
    input=2_500_000_000, cached_input=250_000_000, cache_write=3_000_000_000,
    output=15_000_000_000, reasoning=20_000_000_000,
)  # fmt: skip

CHARGES = [
    # usage, nano-USD
    (Usage(0, 0), 0),
    (Usage(10, 5), 10 * 2_500 + 5 * 15_000),
    (Usage(10, 5, cached_tokens=4), 6 * 2_500 + 4 * 250 + 5 * 15_000),
    (Usage(10, 5, cache_write_tokens=4), 6 * 2_500 + 4 * 3_000 + 5 * 15_000),
    (Usage(10, 5, reasoning_tokens=5), 10 * 2_500 + 5 * 20_000),
    (Usage(10, 0, cached_tokens=4, cache_write_tokens=6), 4 * 250 + 6 * 3_000),
]


@pytest.mark.parametrize(("usage", "nano"), CHARGES)
def test_each_class_is_charged_at_its_own_price(usage: Usage, nano: int) -> None:
    assert charge(usage, PRICE) == nano


def test_rounding_is_half_up_and_once() -> None:
    assert [rounded(n) for n in (0, 499_999, 500_000, 1_499_999, 1_500_000)] == [0, 0, 1, 1, 2]
    halves = Price(input=250_000, output=250_000)
    assert charge(Usage(1, 1), halves) == 1, "two quarters are a half, rounded after the sum"


def test_a_cached_token_at_half_a_cent_per_million_is_five_nano() -> None:
    assert charge(Usage(1, 0, cached_tokens=1), Price(cached_input=5_000_000)) == 5


@pytest.mark.parametrize(
    ("nano", "text"),
    [(0, "0.000000000"), (80_000, "0.000080000"), (1, "0.000000001"), (12 * 10**9, "12.000000000")],
)
def test_nine_places(nano: int, text: str) -> None:
    assert format_usd(nano) == text


def test_a_negative_amount_is_no_amount() -> None:
    with pytest.raises(ValueError, match="not negative"):
        format_usd(-1)


@pytest.mark.parametrize(
    ("text", "nano"),
    [("2.50", 2_500_000_000), ("0", 0), ("0.000000001", 1), (" 7 ", 7 * 10**9)],
)
def test_reading(text: str, nano: int) -> None:
    assert parse_usd(text) == nano


@pytest.mark.parametrize("text", ["", "-1", "1e3", "1.", ".5", "1,50", "0.0000000001", "١", "nan"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="is not an amount in USD"):
        parse_usd(text)


def test_an_amount_has_a_limit() -> None:
    assert parse_usd("1000000000") == 10**18
    with pytest.raises(ValueError, match="over the limit"):
        parse_usd("1000000000.000000001")


@given(st.integers(0, 10**18))
def test_what_is_written_is_read_again(nano: int) -> None:
    assert parse_usd(format_usd(nano)) == nano
