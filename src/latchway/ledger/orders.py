"""What the commands ask to be written: three orders, the same whether a gateway runs or not."""

from __future__ import annotations

from typing import Annotated

import msgspec

from latchway.ledger import keys
from latchway.ledger.sqlite import Book


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


def carry_out(book: Book, order: Order) -> keys.KeyRow | None:
    """Write it; the new row of a key that was made. KeyFault: it cannot be done, nothing was."""
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
        keys.revoke(book, order.name)
    else:
        keys.credit(book, order.name, order.amount)
    return None
