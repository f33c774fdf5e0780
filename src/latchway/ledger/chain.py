"""The chain of an account's entries: what each one leaves, and a hash over all before it (I-B13).

Pure. An account's figures are those of its last entry. Whoever edits, deletes or reorders an entry
must redo every later one of that account.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Tail(NamedTuple):
    """The last entry of an account, as far as the next one builds on it. Amounts in nano-USD."""

    number: int = 0
    granted: int = 0
    charged: int = 0
    reserved: int = 0
    hash: bytes = bytes(32)

    @property
    def available(self) -> int:
        return self.granted - self.charged - self.reserved


MOVES = {
    # kind: granted, charged, reserved
    "grant": (1, 0, 0),
    "reserve": (0, 0, 1),
    "charge": (0, 1, -1),
    "release": (0, 0, -1),
    "adjust": (0, -1, 0),
    "loss": (0, 0, 0),
}
"""How an entry's amount moves its account's figures. `schema.sql` says the same, on its own."""


def follow(
    tail: Tail, key: str, request_id: str | None, kind: str, amount: int, at_ms: int
) -> Tail:
    """The tail once this entry is made. Neither a key nor a kind holds a line feed, and a request
    id is ours, so the text that is hashed can be read in one way only."""
    granted, charged, reserved = MOVES[kind]
    number = tail.number + 1
    granted = tail.granted + granted * amount
    charged = tail.charged + charged * amount
    reserved = tail.reserved + reserved * amount
    text = (
        f"{key}\n{number}\n{request_id or ''}\n{kind}\n{amount}\n"
        f"{granted}\n{charged}\n{reserved}\n{at_ms}"
    )
    return Tail(
        number, granted, charged, reserved, hashlib.sha256(tail.hash + text.encode()).digest()
    )
