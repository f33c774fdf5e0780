"""An order that nobody waits for any more holds as soon as it is durable, and not before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from latchway.ledger import orders, writer
from latchway.ledger.writer import Writer
from latchway.ports import Granted, Unavailable
from ledger.disks import DEADLINE, Disk
from ledger.parts import record
from ledger.writers import ALICE, BOB, BOBS, SECRET, opened, order, reserve, run, until, written

LATE = Unavailable("the database did not answer in time")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


async def give_up(it: Writer, what: orders.Order) -> None:
    """Wait for it no longer than a moment; everything else is given its time."""
    with pytest.MonkeyPatch.context() as impatient:
        impatient.setattr(writer, "ANSWER_SECONDS", 0.02)
        assert await order(it, what) == LATE


ORDERS: dict[str, tuple[orders.Order, Callable[[Writer], bool]]] = {
    "create": (BOB, lambda it: it.keys.check(BOBS) is not None),
    "revoke": (orders.RevokeKey("alice"), lambda it: it.keys.check(SECRET) is None),
}
"""What changes the table of keys, and whether it has."""


@pytest.mark.parametrize("what", ORDERS)
def test_it_holds_when_its_commit_ends_after_it_was_given_up(path: Path, what: str) -> None:
    disk, (asked, holds) = Disk(), ORDERS[what]

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("COMMIT")
            await give_up(it, asked)
            assert not holds(it), "it may yet fail"
            disk.hangs.set()
            await until(lambda: holds(it))

    run(body)


def test_credit_can_be_spent_though_nobody_heard_of_it(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("COMMIT")
            await give_up(it, orders.CreditKey("alice", 500))
            disk.hangs.set()
            assert await reserve(it, amount=1500) == Granted()

    run(body)


@pytest.mark.parametrize("what", ORDERS)
def test_what_was_given_up_before_it_began_is_not_done(path: Path, what: str) -> None:
    disk, (asked, holds) = Disk(), ORDERS[what]

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("BEGIN")
            it.record(record())
            await asyncio.to_thread(disk.reached.wait, DEADLINE)
            await give_up(it, asked)
            disk.hangs.set()
            assert await reserve(it) == Granted(), "what was asked behind it is answered behind it"
            assert not holds(it)
        assert written(path, "SELECT key, revoked_ms FROM account") == [("alice", None)]

    run(body)


def test_one_that_fails_after_it_was_given_up_changes_nothing(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("COMMIT")
            await give_up(it, orders.RevokeKey("nobody"))
            disk.hangs.set()
            assert await reserve(it) == Granted()
            assert [row.key.name for row in it.keys.rows()] == ["alice"]

    run(body)
