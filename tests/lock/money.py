"""What a turn of a script costs: one price, and a request of one size on either transport.

A reservation is a bound of what the request's bytes and the model's output can cost; an estimate
is made of bytes, too. So every script asks in as many bytes, and the amounts are the script's.
"""

from __future__ import annotations

from latchway.ledger.bill import Terms
from latchway.settings import Price

PRICE = Price(
    input=2_000_000_000,
    cached_input=2_000_000_000,
    cache_write=2_000_000_000,
    output=4_000_000_000,
    reasoning=4_000_000_000,
)
"""2 and 4 USD per million tokens: 10 in and 5 out cost 0.000040000."""

REQUEST_BYTES = 256
MAX_OUTPUT_TOKENS = 100
RESERVED = 912_000
"""nano-USD: 256 tokens in, 100 out."""

TERMS = Terms(request_id="", price=PRICE, costs={}, prompt_bytes=REQUEST_BYTES, reserved=RESERVED)
"""The same for a turn that nobody serves."""
