"""What the commands ask to be written: three orders, the same whether a gateway runs or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec

from latchway.ledger import keys
from latchway.ledger.sqlite import Book
from latchway.ports import Unavailable


class CreateKey(msgspec.Struct, frozen=True, tag="create", forbid_unknown_fields=True):
    """`digest`: of the secret, in hexadecimal; the secret itself stays with the command.
    `credit`: nano-USD."""

    name: str
    owner: str
    public_id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{16}\Z")]
    digest: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    credit: int
    unlimited: bool


class RevokeKey(msgspec.Struct, frozen=True, tag="revoke", forbid_unknown_fields=True):
    name: str


class CreditKey(msgspec.Struct, frozen=True, tag="credit", forbid_unknown_fields=True):
    """`amount`: nano-USD, more than 0."""

    name: str
    amount: int


Order = CreateKey | RevokeKey | CreditKey

Outcome = keys.KeyRow | keys.KeyFault | Unavailable | None
"""What `carry_out` returned or raised; Unavailable: that is not known in time, or it failed."""
Done = Callable[[Outcome], None]


def carry_out(book: Book, order: Order) -> keys.KeyRow | None:
    """Write it; the row of a key that was made or revoked, as every table of keys must have it now.
    KeyFault: it cannot be done, nothing was."""
    if isinstance(order, CreateKey):
        new = keys.NewKey(
            order.name,
            order.owner,
            order.public_id,
            bytes.fromhex(order.digest),
            order.credit,
            order.unlimited,
        )
        return keys.create(book, new)
    if isinstance(order, RevokeKey):
        return keys.revoke(book, order.name)
    keys.credit(book, order.name, order.amount)
    return None
