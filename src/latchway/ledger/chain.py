"""The chain of an account: what each of its links leaves, and a hash over all before it (I-B13).

Pure. An account's figures are those of its last link. Whoever edits, deletes or reorders a link
must redo every later one of that account.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Tail(NamedTuple):
    """The last link of an account, as far as the next one builds on it. Amounts in nano-USD."""

    number: int = 0
    granted: int = 0
    charged: int = 0
    reserved: int = 0
    hash: bytes = bytes(32)

    @property
    def available(self) -> int:
        return self.granted - self.charged - self.reserved


class Link(NamedTuple):
    """What moves an account's figures. `request_id`: the turn's, None for a grant."""

    request_id: str | None
    kind: str
    amount: int
    at_ms: int
    charge: int = 0
    """Of an end: what is kept of the amount."""
    loss: int = 0
    """Of an end: what the operator bears; it moves nothing."""


MOVES = {
    # kind: granted, charged, reserved
    "grant": (1, 0, 0),
    "reserve": (0, 0, 1),
    "end": (0, 0, -1),
    "adjust": (0, -1, 0),
}
"""How a link's amount moves its account's figures; an end's charge is charged besides. `schema.sql`
says the same, on its own."""


def follow(tail: Tail, key: str, link: Link) -> Tail:
    """The tail once this link is made. Neither a key nor a kind holds a line feed, and a request
    id is ours, so the text that is hashed can be read in one way only."""
    request_id, kind, amount, at_ms, charge, loss = link
    move_granted, move_charged, move_reserved = MOVES[kind]
    number = tail.number + 1
    granted = tail.granted + move_granted * amount
    charged = tail.charged + move_charged * amount + charge
    reserved = tail.reserved + move_reserved * amount
    text = b"%b%b\n%d\n%b\n%b\n%d\n%d\n%d\n%d\n%d\n%d\n%d" % (
        tail.hash, key.encode(), number, (request_id or "").encode(), kind.encode(), amount, charge,
        loss, granted, charged, reserved, at_ms,
    )  # fmt: skip
    return Tail(number, granted, charged, reserved, hashlib.sha256(text).digest())
