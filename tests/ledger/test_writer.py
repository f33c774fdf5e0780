"""The two ports over a real database: what is answered is durable, and what an order says holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import database, orders, rounds
from latchway.ledger.committer import Committer, Job
from latchway.ledger.database import LedgerFault, Lock
from latchway.ledger.keys import KeyFault
from latchway.ledger.writer import Writer
from latchway.log import store
from latchway.ports import Granted, Refused
from latchway.wire.marks import mark
from ledger.disks import DEADLINE, Disk
from ledger.parts import answered, opening, record
from ledger.writers import ALICE, KINDS, SECRET, close, opened, order, reserve, run, until, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


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
            await close(it, made=(mark("resp_1"),))
            assert it.maker("alice", [mark("resp_1")]) == "a/m"
            assert it.maker("bob", [mark("resp_1")]) is None
            kept = [mark("conv_1")]
            assert await answered(lambda done: it.remember("bob", "b/m", kept, done)) == Granted()
            assert it.maker("bob", kept) == "b/m"

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


def test_a_record_goes_over_with_the_next_job(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "RIDE_SECONDS", DEADLINE)
    put = Committer.put
    lengths: list[int] = []

    def watched(self: Committer, jobs: list[Job]) -> None:
        lengths.append(len(jobs))
        put(self, jobs)

    async def body() -> None:
        monkeypatch.setattr(Committer, "put", watched)
        with opened(path) as it:
            await order(it, ALICE)
            lengths.clear()
            it.record(record())
            await asyncio.to_thread(lambda: None)
            assert await reserve(it) == Granted()
            assert lengths == [2]
            assert written(path, "SELECT count(*) FROM log") == [(1,)]

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
            revoked = await order(it, orders.RevokeKey("alice"))
            assert (revoked.key.name, revoked.revoked) == ("alice", True)
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
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)

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
