"""What tokens cost: whole numbers of nano-USD, one rounding a turn (I-B8).

Pure. A charge can be computed again, to the last digit, from the usage and the price that are
stored with its turn; that is what `verify` does.
"""

from __future__ import annotations

import re

from latchway.settings import Price
from latchway.wire.frame import Usage

NANO_PER_USD = 1_000_000_000
DECIMAL_PLACES = 9
TOKENS_PER_PRICE = 1_000_000
"""A price is for this many tokens."""
MOST_USD = 1_000_000_000
"""Of any amount that is read. A database integer holds nine times that many nano-USD."""

_AMOUNT = re.compile(r"(\d{1,10})(?:\.(\d{1,9}))?", re.ASCII)


def charge(usage: Usage, price: Price) -> int:
    """What `usage` costs, in nano-USD, rounded half up once.

    Classes that are part of another are taken out of it: cached and written input out of the
    input, reasoning out of the output.
    """
    plain_input = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
    plain_output = usage.output_tokens - usage.reasoning_tokens
    return rounded(
        plain_input * price.input
        + usage.cached_tokens * price.cached_input
        + usage.cache_write_tokens * price.cache_write
        + plain_output * price.output
        + usage.reasoning_tokens * price.reasoning
    )


def rounded(tokens_times_price: int) -> int:
    """Nano-USD out of tokens times price. It never falls as its argument grows, so the bound of a
    sum is a bound of its charge."""
    return (tokens_times_price + TOKENS_PER_PRICE // 2) // TOKENS_PER_PRICE


def format_usd(nano: int) -> str:
    """`80000` is `"0.000080000"`. Amounts are never negative: ValueError."""
    if nano < 0:
        raise ValueError(f"an amount is not negative: {nano}")
    return f"{nano // NANO_PER_USD}.{nano % NANO_PER_USD:09d}"


def parse_usd(text: str) -> int:
    """Nano-USD out of a decimal such as `2.50`; ValueError says what was wrong with it."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            f"{text!r} is not an amount in USD: write digits, a point, up to nine more, as in 2.50"
        )
    whole, fraction = found[1], found[2] or ""
    nano = int(whole) * NANO_PER_USD + int(fraction.ljust(DECIMAL_PLACES, "0"))
    if nano > MOST_USD * NANO_PER_USD:
        raise ValueError(f"{text!r} is over the limit of {MOST_USD} USD")
    return nano
