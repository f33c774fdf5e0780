"""What a worker's turns ask becomes durable, in its own epoch; what it did not hear is undone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger.database import open_reader
from latchway.ledger.verify import verify
from latchway.ledger.writer import Writer
from latchway.log import store
from latchway.workers.desk import Desk
from latchway.workers.messages import (
    Answer,
    Close,
    Hello,
    Record,
    Remember,
    Replay,
    Reserve,
    Undo,
)
from ledger.disks import DEADLINE, Disk
from ledger.parts import answered, closing, opening, record
from ledger.writers import ALICE, KINDS, opened, order, run, until, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


class Bench:
    """A desk on a writer; `answers`: what the worker was told."""

    def __init__(self, writer: Writer, epoch: int) -> None:
        self.answers: list[Any] = []
        self.desk = Desk(writer, epoch, self.answers.append)

    async def told(self, *messages: Any) -> Any:
        """Its last answer, after so many messages that have one."""
        wanted = len(self.answers) + len(messages)
        for message in messages:
            self.desk.take(message)
        await until(lambda: len(self.answers) >= wanted)
        return self.answers[-1]


async def desk_of(writer: Writer, pid: int = 7) -> Bench:
    epoch = await answered(lambda done: writer.begin_epoch(f"host/{pid}", done))
    return Bench(writer, epoch)


def test_what_is_asked_is_written_in_the_workers_epoch(path: Path) -> None:
    async def body() -> None:
        with opened(path) as writer:
            await order(writer, ALICE)
            bench = await desk_of(writer)
            assert await bench.told(Reserve(1, opening())) == Answer(1, None)
            assert await bench.told(Reserve(2, opening("req_2", amount=901))) == Answer(
                2, (901, 900)
            )
            assert await bench.told(Replay(3, "req_1", "b/m")) == Answer(3, None)
            assert (await bench.told(Replay(4, "req_9", "b/m"))).outcome == "no turn 'req_9'"
            assert await bench.told(Remember(5, "bob", "a/m", (b"x" * 12,))) == Answer(5, None)
            end = closing(billed_attempt=2, route="b/m")
            assert await bench.told(Close(6, end)) == Answer(6, None)
            bench.desk.take(Record(record()))
            assert writer.find("req_1") == record()
        query = "SELECT served_by, second_route, state FROM turn JOIN epoch USING (epoch)"
        assert written(path, query) == [("host/7", "b/m", "settled")]
        assert written(path, "SELECT owner FROM made WHERE owner = 'bob'") == [("bob",)]

    run(body)


@pytest.mark.parametrize(
    ("ended", "left"),
    [
        (False, [("reserve", 100), ("release", 100)]),
        (True, [("reserve", 100), ("charge", 40), ("release", 60), ("adjust", 40)]),
    ],
)
def test_what_a_worker_had_given_up_is_undone(
    path: Path, ended: bool, left: list[tuple[str, int]]
) -> None:
    async def body() -> None:
        with opened(path) as writer:
            await order(writer, ALICE)
            bench = await desk_of(writer)
            await bench.told(Reserve(1, opening()))
            if ended:
                await bench.told(Close(2, closing()))
            bench.desk.take(Undo("req_1", ended))
        assert written(path, KINDS) == left

    run(body)


def test_a_worker_that_is_gone_loses_its_turns_and_no_other_does(path: Path) -> None:
    async def body() -> None:
        with opened(path) as writer:
            await order(writer, ALICE)
            gone, there = await desk_of(writer, 7), await desk_of(writer, 8)
            await gone.told(Reserve(1, opening("req_1")), Reserve(2, opening("req_2")))
            await gone.told(Reserve(3, opening("req_4")))
            await gone.told(Close(4, closing("req_2")), Close(5, closing("req_4")))
            gone.desk.take(Record(record("req_2")))
            await there.told(Reserve(1, opening("req_3")))
            gone.desk.leave()
            await until(lambda: bool(written(path, "SELECT 1 FROM log WHERE request_id = 'req_1'")))
            states = "SELECT request_id, state, charged FROM turn ORDER BY turn"
            assert written(path, states) == [
                ("req_1", "void", 0),
                ("req_2", "settled", 40),
                ("req_4", "settled", 40),
                ("req_3", "open", 0),
            ]
            given_back = "SELECT request_id FROM entry JOIN turn USING (turn) WHERE kind = 'adjust'"
            assert written(path, given_back) == [("req_4",)], "its client heard of no end"
            assert (await there.told(Close(2, closing("req_3")))).outcome is None
            assert found(path, "req_1")["served_by"] == "host/7"

    run(body)


def found(path: Path, request_id: str) -> dict[str, Any]:
    reader = open_reader(path)
    try:
        assert verify(reader) == []
        record = store.find(reader, request_id)
        assert record is not None
        return record
    finally:
        reader.close()


UNHEARD = [
    # where the disk hangs while the worker dies, and what is left of its closing
    ("BEGIN", [("release", 100), ("loss", 40)]),
    ("COMMIT", [("charge", 40), ("release", 60), ("adjust", 40)]),
]


@pytest.mark.parametrize(("at", "left"), UNHEARD)
def test_an_end_that_the_worker_did_not_hear_charges_nothing(
    path: Path, at: str, left: list[tuple[str, int]]
) -> None:
    async def body() -> None:
        disk = Disk()
        with opened(path, disk) as writer:
            await order(writer, ALICE)
            bench = await desk_of(writer)
            await bench.told(Reserve(1, opening()))
            disk.hang(at)
            if at == "BEGIN":
                writer.record(record("req_9"))
                await asyncio.to_thread(disk.reached.wait, DEADLINE)
            bench.desk.take(Close(2, closing()))
            if at == "COMMIT":
                await asyncio.to_thread(disk.reached.wait, DEADLINE)
            bench.desk.leave()
            disk.hangs.set()
            await until(lambda: bool(written(path, "SELECT 1 FROM log WHERE request_id = 'req_1'")))
        assert written(path, KINDS)[1:] == left
        billing = found(path, "req_1")["billing"]
        assert (billing["charged"], billing["operator_loss"]) == ("0.000000000", "0.000000040")
        assert len(bench.answers) == 1

    run(body)


def test_what_is_no_matter_of_the_ledgers_is_a_fault(path: Path) -> None:
    async def body() -> None:
        with opened(path) as writer:
            bench = await desk_of(writer)
            with pytest.raises(KeyError):
                bench.desk.take(Hello(1))

    run(body)
