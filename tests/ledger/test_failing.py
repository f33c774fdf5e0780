"""The writer on a disk that fails or hangs: told in time, and nothing charged undelivered."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from latchway.ledger import writer
from latchway.ledger.database import open_reader
from latchway.ledger.verify import verify
from latchway.ports import Granted, Unavailable
from ledger.disks import DEADLINE, Disk
from ledger.parts import answered, record, refund
from ledger.writers import ALICE, KINDS, close, opened, order, reserve, run, until, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


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
