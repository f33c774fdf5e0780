"""A real writer on a real database, for the length of a test, and how it is asked."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from latchway.ledger import keys, orders
from latchway.ledger.database import open_reader
from latchway.ledger.writer import Writer
from ledger.disks import DEADLINE, Disk
from ledger.parts import answered, closing, opening

SECRET, PUBLIC_ID = keys.mint()
ALICE = orders.CreateKey("alice", "alice", PUBLIC_ID, keys.digest(SECRET).hex(), 1000, False)
BOBS, BOBS_ID = keys.mint()
BOB = orders.CreateKey("bob", "bob", BOBS_ID, keys.digest(BOBS).hex(), 0, False)


@contextmanager
def opened(path: Path, disk: Disk | None = None) -> Iterator[Writer]:
    """A writer on this loop, for as long as the block."""
    factory = disk.connection() if disk else sqlite3.Connection
    it = Writer.open(path, asyncio.get_running_loop(), served_by="host/1", factory=factory)
    try:
        yield it
    finally:
        if disk:
            disk.hangs.set()
        it.stop()


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(body())


async def reserve(it: Writer, name: str = "req_1", **changed: Any) -> Any:
    return await answered(lambda done: it.reserve(opening(name, **changed), done))


async def close(it: Writer, name: str = "req_1", **changed: Any) -> Any:
    return await answered(lambda done: it.close(closing(name, **changed), done))


async def order(it: Writer, what: orders.Order) -> Any:
    return await answered(lambda done: it.order(what, done))


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop go on until something holds."""
    ready = asyncio.Event()

    def look() -> None:
        if holds():
            ready.set()
        else:
            asyncio.get_running_loop().call_later(0.002, look)

    look()
    async with asyncio.timeout(DEADLINE):
        await ready.wait()


def written(path: Path, query: str) -> list[Any]:
    reader = open_reader(path)
    try:
        return reader.execute(query).fetchall()
    finally:
        reader.close()


KINDS = "SELECT kind, amount FROM entry WHERE turn IS NOT NULL ORDER BY number, part"
