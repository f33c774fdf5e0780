"""The three orders, as they travel and as they are carried out."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from latchway.ledger import keys, orders
from latchway.ledger.orders import CreateKey, CreditKey, RevokeKey
from latchway.ports import Key
from ledger.parts import figures, in_memory

SECRET, PUBLIC_ID = keys.mint()
CREATE = CreateKey("alice", "team", PUBLIC_ID, keys.digest(SECRET).hex(), 5, False)


@pytest.mark.parametrize("order", [CREATE, RevokeKey("alice"), CreditKey("alice", 7)])
def test_an_order_is_read_as_it_was_sent(order: orders.Order) -> None:
    line = msgspec.json.encode(order)
    assert msgspec.json.decode(line, type=orders.Order) == order
    assert SECRET.encode() not in line


def test_they_are_carried_out() -> None:
    book = in_memory()
    with book.transaction():
        made = orders.carry_out(book, CREATE)
        assert orders.carry_out(book, CreditKey("alice", 7)) is None
        revoked = orders.carry_out(book, RevokeKey("alice"))
    assert made == keys.KeyRow(Key("alice", "team"), PUBLIC_ID, keys.digest(SECRET))
    assert revoked == replace(made, revoked=True), "what every table must have from now on"
    assert figures(book) == (12, 0, 0)
    assert not keys.load(book.connection).valid("alice")


@pytest.mark.parametrize("changed", [
    {"digest": "00" * 31}, {"digest": "zz" * 32}, {"public_id": "x"},
    {"credit": "5"}, {"type": "delete"}, {"more": 1},
])  # fmt: skip
def test_what_is_no_order_is_not_read(changed: dict[str, object]) -> None:
    line = msgspec.json.encode(msgspec.to_builtins(CREATE) | changed)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(line, type=orders.Order)
