"""What the ledger's tests share: a book in memory with one key, and the usual turn."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from latchway.ledger import keys
from latchway.ledger.database import make_tables
from latchway.ledger.sqlite import Book
from latchway.ports import Closing, Opening
from latchway.settings import Price

NOW_MS = 1_796_000_000_000
PRICE = Price(
    input=2_000_000, cached_input=500_000, cache_write=2_000_000, output=4_000_000,
    reasoning=4_000_000,
)  # fmt: skip
USAGE = {
    "input_tokens": 10,
    "cached_tokens": 0,
    "cache_write_tokens": 0,
    "output_tokens": 5,
    "reasoning_tokens": 0,
}
COST = 40
"""Of USAGE at PRICE."""
RESERVED = 100


def book_of(connection: sqlite3.Connection, now_ms: Callable[[], int] = lambda: NOW_MS) -> Book:
    """A book on a connection, in its first epoch."""
    connection.execute("PRAGMA foreign_keys=ON")
    make_tables(connection)
    book = Book(connection, now_ms)
    with book.transaction():
        book.begin_epoch("host/1")
    return book


def in_memory() -> Book:
    return book_of(sqlite3.connect(":memory:", isolation_level=None))


def add_key(book: Book, name: str = "alice", credit: int = 1000, **more: Any) -> str:
    """Make a key and return its secret."""
    secret, public_id = keys.mint()
    new = keys.NewKey(name, more.pop("owner", name), public_id, keys.digest(secret), credit, **more)
    with book.transaction():
        keys.create(book, new)
    return secret


def opening(request_id: str = "req_1", **changed: Any) -> Opening:
    values: dict[str, Any] = {
        "request_id": request_id,
        "key": "alice",
        "owner": "alice",
        "model": "m",
        "price": PRICE,
        "amount": RESERVED,
        "route": "a/m",
        "started_at_ms": NOW_MS,
    }
    return Opening(**(values | changed))


def closing(request_id: str = "req_1", **changed: Any) -> Closing:
    values: dict[str, Any] = {
        "request_id": request_id,
        "charge": COST,
        "loss": 0,
        "loss_reason": None,
        "basis": "upstream",
        "usage": USAGE,
        "billed_attempt": 1,
        "response_id": f"resp_of_{request_id}",
        "route": "a/m",
    }
    return Closing(**(values | changed))


def refund(request_id: str = "req_1", loss: int = 0) -> Closing:
    return closing(
        request_id,
        charge=0,
        loss=loss,
        loss_reason="upstream_broke" if loss else None,
        basis="none",
        usage=None,
        billed_attempt=None,
        response_id=None,
        route=None,
    )


def entries(book: Book) -> list[tuple[str, int]]:
    """Kind and amount of each entry of a turn, in order."""
    query = "SELECT kind, amount FROM entry WHERE turn IS NOT NULL ORDER BY account, number, part"
    return book.connection.execute(query).fetchall()


def figures(book: Book, key: str = "alice") -> tuple[int, int, int]:
    """granted, charged, reserved."""
    account = book.account(key)
    assert account is not None
    tail = book.tail(account)
    return tail.granted, tail.charged, tail.reserved


def record(request_id: str = "req_1", **changed: Any) -> dict[str, Any]:
    """A log record; only what finds it matters to the ledger."""
    values: dict[str, Any] = {
        "request_id": request_id,
        "response_id": f"resp_of_{request_id}",
        "key": "alice",
        "owner": "alice",
        "started_at": "2026-11-29T12:00:00.000Z",
        "outcome": "completed",
    }
    return values | changed


async def answered(ask: Callable[[Callable[[Any], None]], None]) -> Any:
    """What is told to the callback that `ask` is given."""
    told = asyncio.get_running_loop().create_future()
    ask(told.set_result)
    async with asyncio.timeout(10):
        return await told
