"""How much is put aside before a turn, and what is charged when nobody metered it (R6).

Pure. The reservation is a strict upper bound, so that a balance can never be overdrawn: a byte of
a request is at most one token (a tokenizer merges bytes, it never splits one), and what is not in
the request is bounded by the model's context.
"""

from __future__ import annotations

from latchway.ledger.prices import charge, rounded
from latchway.settings import Model, Price
from latchway.wire.frame import Usage
from latchway.wire.request import Request

BYTES_PER_TOKEN = 4
"""Of an estimate: about what English text and JSON have. Fixed, so that a bill can be redone."""


def amount(model: Model, request: Request) -> int:
    """Nano-USD to reserve for `request`; 0 for a free model.

    ValueError: the model lacks a bound that the configuration should have asked for.
    """
    if model.free:
        return 0
    dearest_input, dearest_output = dearest(model.price)
    return rounded(
        most_input(model, request) * dearest_input + most_output(model, request) * dearest_output
    )


def dearest(price: Price) -> tuple[int, int]:
    """What a token of input and one of output can cost at most."""
    of_input = max(price.input, price.cached_input, price.cache_write)
    return of_input, max(price.output, price.reasoning)


def most_input(model: Model, request: Request) -> int:
    """Tokens of input at most. ValueError: as `amount`."""
    if model.context_tokens is None:
        if request.partial_input:
            raise ValueError(f"model {model.name} needs context_tokens: not all input is sent")
        return request.prompt_bytes
    if request.partial_input:
        return model.context_tokens
    return min(model.context_tokens, request.prompt_bytes)


def most_output(model: Model, request: Request) -> int:
    """Tokens of output at most. ValueError: as `amount`."""
    if model.max_output_tokens is None:
        raise ValueError(f"model {model.name} has a price and needs max_output_tokens")
    if request.max_output_tokens is None:
        return model.max_output_tokens
    return max(0, min(model.max_output_tokens, request.max_output_tokens))


def estimate(
    prompt_bytes: int, output_bytes: int, price: Price, reserved: int
) -> tuple[Usage, int]:
    """The usage that stands in for one that never came, and its charge: at most `reserved`.

    No part of it is taken as cached or as reasoning. `output_bytes`: delta text of every kind.
    """
    usage = Usage(
        input_tokens=_tokens(prompt_bytes),
        output_tokens=_tokens(output_bytes),
    )
    return usage, min(charge(usage, price), reserved)


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
