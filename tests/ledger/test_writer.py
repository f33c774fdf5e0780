"""The two ports over a real database: durable answers in time, and nothing charged that was not
delivered."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import keys, orders, writer
from latchway.ledger.database import LedgerFault, Lock, open_reader
from latchway.ledger.keys import KeyFault
from latchway.ledger.verify import verify
from latchway.ledger.writer import Writer
from latchway.log import store
from latchway.ports import Granted, Refused, Unavailable
from ledger.disks import DEADLINE, Disk
from ledger.parts import answered, closing, opening, record, refund

SECRET, PUBLIC_ID = keys.mint()
ALICE = orders.CreateKey("alice", "alice", PUBLIC_ID, keys.digest(SECRET).hex(), 1000, False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


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


KINDS = "SELECT kind, amount FROM entry WHERE turn IS NOT NULL ORDER BY number"


def test_an_answer_is_durable(path: Path) -> None:
    async def body() -> None:
        with opened(path) as it:
            await order(it, ALICE)
            assert await reserve(it) == Granted()
            assert written(path, KINDS) == [("reserve", 100)]
            assert await answered(lambda done: it.record_replay("req_1", "b/m", done)) == Granted()
            assert written(path, "SELECT second_route FROM turn") == [("b/m",)]
            assert await close(it) == Granted()
            assert written(path, KINDS) == [("reserve", 100), ("charge", 40), ("release", 60)]
            assert await close(it, charge=1) == Granted()
            assert len(written(path, KINDS)) == 3
            assert await reserve(it, "req_2", amount=961) == Refused(needed=961, available=960)

    run(body)


def test_where_a_response_was_made_is_known_at_once(path: Path) -> None:
    async def body() -> None:
        with opened(path) as it:
            await order(it, ALICE)
            await reserve(it)
            await close(it, response_id="resp_1")
            assert it.route_of("alice", "resp_1") == "a/m"
            assert it.route_of("bob", "resp_1") is None

    run(body)


def test_a_record_is_found_before_and_after_it_is_written(path: Path) -> None:
    async def body() -> None:
        with opened(path) as it:
            it.record(record())
            assert it.find("req_1") == record()
            assert it.find("resp_of_req_1") == record()
            assert it.find("req_2") is None
            await until(lambda: it.find("req_1") is None)
            assert written(path, "SELECT count(*) FROM log") == [(1,)]
            it.record(record("req_2"))
        assert written(path, "SELECT count(*) FROM log") == [(2,)], "stopping writes the rest"

    run(body)


def test_what_an_order_changes_holds_when_it_is_answered(path: Path) -> None:
    async def body() -> None:
        with opened(path) as it:
            assert it.keys.check(SECRET) is None
            await order(it, ALICE)
            assert it.keys.check(SECRET) is not None
            assert isinstance(await order(it, ALICE), KeyFault)
            assert await order(it, orders.CreditKey("alice", 5)) is None
            assert await reserve(it, amount=1005) == Granted()
            assert await order(it, orders.RevokeKey("alice")) is None
            assert it.keys.check(SECRET) is None
            assert not it.keys.valid("alice")
            assert isinstance(await order(it, orders.RevokeKey("bob")), KeyFault)

    run(body)


def test_keys_are_there_after_a_restart(path: Path) -> None:
    async def body() -> None:
        with opened(path) as it:
            await order(it, ALICE)
        with opened(path) as it:
            assert it.keys.check(SECRET) is not None

    run(body)


def test_one_gateway_owns_a_database(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LOCK_SECONDS", 0.05)

    async def body() -> None:
        with opened(path), pytest.raises(LedgerFault, match="another gateway runs on"):
            Writer.open(path, asyncio.get_running_loop(), served_by="host/2")
        with opened(path):
            pass

    run(body)


def test_a_start_that_fails_gives_up_the_lock(path: Path) -> None:
    path.write_text("no database" * 500)

    async def body() -> None:
        with pytest.raises(LedgerFault, match="not a database"):
            Writer.open(path, asyncio.get_running_loop(), served_by="host/1")

    run(body)
    assert Lock(path).take()


def test_a_full_disk_is_told_at_once_and_mends_by_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PROBE_SECONDS", 0.005)
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            await reserve(it)
            disk.fill()
            assert await reserve(it, "req_2") == Unavailable("database or disk is full")
            assert await close(it) == Unavailable("database or disk is full")
            assert not it.healthy
            disk.mend()
            await until(lambda: it.healthy)
            assert await reserve(it, "req_3", amount=1000) == Granted(), "req_1 was refunded"
        assert written(path, KINDS) == [
            ("reserve", 100),
            ("release", 100),
            ("loss", 40),
            ("reserve", 1000),
        ]

    run(body)


def test_a_commit_that_fails_is_no_commit(path: Path) -> None:
    disk = Disk()
    disk.at = "COMMIT"

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.fault = sqlite3.OperationalError("disk I/O error")
            assert await reserve(it) == Unavailable("disk I/O error")
            disk.mend()
            assert await reserve(it) == Granted()
        assert written(path, "SELECT count(*) FROM turn") == [(1,)]

    run(body)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "ANSWER_SECONDS", 0.02)


LATE = "the database did not answer in time"


@pytest.mark.usefixtures("impatient")
def test_a_reservation_that_comes_too_late_is_released(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("COMMIT")
            assert await reserve(it) == Unavailable(LATE)
            assert not it.healthy
            disk.hangs.set()
            await until(lambda: len(written(path, KINDS)) == 2)
        assert written(path, KINDS) == [("reserve", 100), ("release", 100)]

    run(body)


@pytest.mark.usefixtures("impatient")
def test_a_settlement_that_comes_too_late_is_given_back(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            await reserve(it)
            disk.hang("COMMIT")
            assert await close(it) == Unavailable(LATE)
            disk.hangs.set()
            await until(lambda: len(written(path, KINDS)) == 4)
        assert written(path, KINDS)[1:] == [("charge", 40), ("release", 60), ("adjust", 40)]
        reader = open_reader(path)
        assert verify(reader) == []
        reader.close()

    run(body)


@pytest.mark.usefixtures("impatient")
def test_a_settlement_that_never_began_in_time_is_a_refund(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            await reserve(it)
            disk.hang("BEGIN")
            it.record(record())
            await asyncio.to_thread(disk.reached.wait, DEADLINE)
            assert await close(it) == Unavailable(LATE)
            disk.hangs.set()
            await until(lambda: len(written(path, KINDS)) == 3)
        assert written(path, KINDS)[1:] == [("release", 100), ("loss", 40)]

    run(body)


def test_a_callback_that_fails_does_not_take_the_others_with_it(path: Path) -> None:
    async def body() -> None:
        faults: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: faults.append(what))
        disk = Disk()
        with opened(path, disk) as it:
            await order(it, ALICE)
            disk.hang("COMMIT")
            it.record(record())
            await asyncio.to_thread(disk.reached.wait, DEADLINE)
            it.reserve(opening("req_1"), lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
            second = asyncio.ensure_future(reserve(it, "req_2"))
            asyncio.get_running_loop().call_soon(disk.hangs.set)
            assert await second == Granted()
        assert isinstance(faults[0]["exception"], ZeroDivisionError)

    run(body)


def test_what_a_killed_gateway_left_open_is_refunded_at_the_start(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        with opened(path) as it:
            await order(it, ALICE)
            await reserve(it)
        with opened(path):
            assert written(path, KINDS) == [("reserve", 100), ("release", 100)]
        assert "the last gateway was killed: refunded 1 of its turns" in caplog.text

    run(body)


def test_old_records_are_deleted_step_by_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PRUNED_AT_ONCE", 2)

    async def body() -> None:
        with opened(path) as it:
            for number in range(5):
                it.record(record(f"req_{number}", started_at="2001-01-01T00:00:00.000Z"))
            it.record(record("req_new", started_at="2999-01-01T00:00:00.000Z"))
        with opened(path):
            await until(lambda: written(path, "SELECT count(*) FROM log") == [(1,)])

    run(body)


def test_a_refund_after_a_stop_is_made_at_the_next_start(path: Path) -> None:
    disk = Disk()

    async def body() -> None:
        with opened(path, disk) as it:
            await order(it, ALICE)
            await reserve(it)
            disk.fill()
            refused = await answered(lambda done: it.close(refund(), done))
            assert isinstance(refused, Unavailable)
        with opened(path):
            assert written(path, KINDS) == [("reserve", 100), ("release", 100)]

    run(body)
