"""What a route made is read beside whoever writes, and no longer than it is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from latchway.ledger.database import LedgerFault
from latchway.ledger.known import Known
from latchway.wire.marks import mark
from ledger.parts import NOW_MS, in_memory

KEEP_MS = 1000


def test_it_is_known_for_so_long_and_whose_it_is() -> None:
    book = in_memory()
    with book.transaction():
        book.remember("alice", "a/m", [mark("resp_1")])
    now = [NOW_MS]
    known = Known(book.connection, now.pop, KEEP_MS)

    def ask(method: Callable[[str, list[bytes]], object], owner: str, age_ms: int) -> object:
        now.append(NOW_MS + age_ms)
        return method(owner, [mark("resp_1")])

    for age_ms, maker in ((KEEP_MS - 1, "a/m"), (KEEP_MS, None)):
        assert ask(known.maker, "alice", age_ms) == maker
        assert ask(known.maker, "bob", age_ms) is None
        assert ask(known.is_anothers, "bob", age_ms) is (maker is not None)
        assert ask(known.is_anothers, "alice", age_ms) is False


def test_what_cannot_be_read_is_a_fault_of_the_ledger() -> None:
    known = Known(sqlite3.connect(":memory:"), lambda: NOW_MS, KEEP_MS)
    for ask in (known.maker, known.is_anothers):
        with pytest.raises(LedgerFault, match="the ledger cannot be read: no such table"):
            ask("alice", [mark("resp_1")])
    known.close()
    with pytest.raises(LedgerFault, match="closed"):
        known.maker("alice", [mark("resp_1")])
