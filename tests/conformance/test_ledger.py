"""What every ledger must hold, whatever database is under it. One row of LEDGERS for each."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import keys, orders, report
from latchway.ledger.database import open_reader
from latchway.ledger.keys import Keys
from latchway.ledger.known import Known
from latchway.ledger.sqlite import wall_clock_ms
from latchway.ledger.verify import verify
from latchway.ledger.writer import Writer
from latchway.ports import Granted, Ledger, Refused, Unavailable
from latchway.values import replace
from latchway.wire.marks import mark
from latchway.workers import messages
from latchway.workers.desk import Desk
from latchway.workers.link import Link
from latchway.workers.questions import Questions
from latchway.workers.remote import RemoteLedger
from ledger.parts import (
    COST,
    answered,
    closing,
    opening,
    refund,
)

TESTS = Path(__file__).resolve().parents[1]


@dataclass
class Bench:
    """A ledger under test, and what the tests must see beside the port."""

    ledger: Ledger
    order: Callable[[orders.Order], Any]
    stop: Callable[[], None]
    show: Callable[[], dict[str, Any]]
    faults: Callable[[], list[Any]]


async def sqlite(folder: Path) -> Bench:
    """SQLite's, on a file in `folder`."""
    path = folder / "latchway.db"
    writer = Writer.open(path, asyncio.get_running_loop(), served_by="host/1")
    return bench_of(path, writer, writer, writer.stop)


async def remote(folder: Path) -> Bench:
    """A worker's, in front of the same, over a real socket pair."""
    path = folder / "latchway.db"
    loop = asyncio.get_running_loop()
    writer = Writer.open(path, loop, served_by="host/1")
    epoch = await answered(lambda done: writer.begin_epoch("host/2", done))
    supervisors = Link(loop.call_soon, messages.from_workers)
    workers = Link(loop.call_soon, messages.from_supervisor)
    desk = Desk(writer, epoch, supervisors.send)
    known = Known(open_reader(path), wall_clock_ms, 10**10)
    ledger = RemoteLedger(workers, loop, Keys(), known, Questions(workers, loop.call_soon))
    supervisors.heard, supervisors.lost = desk.take, desk.leave
    workers.heard, workers.lost = ledger.answer, ledger.lost
    for link, end in zip((supervisors, workers), socket.socketpair(), strict=True):
        await loop.create_unix_connection(partial(_same, link), sock=end)

    def stop() -> None:
        workers.close()
        supervisors.close()
        ledger.stop()
        writer.stop()

    return bench_of(path, ledger, writer, stop)


def _same(link: Link) -> Link:
    return link


def bench_of(path: Path, ledger: Ledger, writer: Writer, stop: Callable[[], None]) -> Bench:
    """`writer`: who takes the orders."""

    def read(question: Callable[[Any], Any]) -> Any:
        reader = open_reader(path)
        try:
            return question(reader)
        finally:
            reader.close()

    return Bench(
        ledger,
        lambda order: answered(lambda done: writer.order(order, done)),
        stop,
        lambda: read(report.ledger),
        lambda: read(verify),
    )


LEDGERS = [sqlite, remote]


@pytest.fixture(params=LEDGERS, ids=lambda factory: factory.__name__)
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Runs `body(bench)` with a ledger in which `alice` has ten reservations' worth."""

    def run(body: Callable[[Bench], Any]) -> None:
        async def go() -> None:
            bench = await request.param(tmp_path)
            try:
                await bench.order(create("alice", 1000))
                await body(bench)
                assert bench.faults() == []
            finally:
                bench.stop()

        asyncio.run(go())

    return run


def create(name: str, credit: int) -> orders.CreateKey:
    secret, public_id = keys.mint()
    return orders.CreateKey(name, name, public_id, keys.digest(secret).hex(), credit, False)


async def reserve(bench: Bench, name: str = "req_1", **changed: Any) -> Any:
    return await answered(lambda done: bench.ledger.reserve(opening(name, **changed), done))


async def close(bench: Bench, what: Any) -> Any:
    return await answered(lambda done: bench.ledger.close(what, done))


async def replay(bench: Bench, name: str, route: str) -> Any:
    return await answered(lambda done: bench.ledger.record_replay(name, route, done))


def account(bench: Bench) -> tuple[int, int, int]:
    """charged, reserved, available."""
    (row,) = (row for row in bench.show()["accounts"] if row["key"] == "alice")
    amounts = (row["charged"], row["reserved"], row["available"])
    return tuple(int(text.replace(".", "")) for text in amounts)  # type: ignore[return-value]


def test_two_hundred_at_once_on_a_balance_for_ten(play: Any) -> None:
    async def body(bench: Bench) -> None:
        answers = await asyncio.gather(*(reserve(bench, f"req_{n}") for n in range(200)))
        granted = [n for n, answer in enumerate(answers) if answer == Granted()]
        refused = [answer for answer in answers if isinstance(answer, Refused)]
        assert (len(granted), len(refused)) == (10, 190)
        assert refused[0] == Refused(needed=100, available=0)
        assert account(bench) == (0, 1000, 0)
        ends = [closing(f"req_{n}") for n in granted]
        assert await asyncio.gather(*(close(bench, end) for end in ends)) == [Granted()] * 10
        assert account(bench) == (10 * COST, 0, 1000 - 10 * COST)

    play(body)


def test_many_closings_of_one_turn_are_one(play: Any) -> None:
    async def body(bench: Bench) -> None:
        await reserve(bench)
        ends = [closing(charge=COST), refund(), closing(charge=77), closing(charge=COST)]
        assert await asyncio.gather(*(close(bench, end) for end in ends)) == [Granted()] * 4
        assert account(bench) == (COST, 0, 1000 - COST)

    play(body)


def test_a_charge_that_is_durable_after_all_goes_back_with_what_undoes_it(play: Any) -> None:
    async def body(bench: Bench) -> None:
        await reserve(bench)
        undoing = replace(refund(), undoes=True)
        ends = [closing(charge=COST), undoing, undoing]
        assert await asyncio.gather(*(close(bench, end) for end in ends)) == [Granted()] * 3
        assert account(bench) == (0, 0, 1000)

    play(body)


def test_two_attempts_and_no_third(play: Any) -> None:
    async def body(bench: Bench) -> None:
        await reserve(bench)
        assert isinstance(await replay(bench, "req_1", "a/m"), Unavailable), "the same route"
        assert await replay(bench, "req_1", "b/m") == Granted()
        assert isinstance(await replay(bench, "req_1", "c/m"), Unavailable), "a third attempt"
        made = (mark("resp_1"), mark("rs_1"))
        assert await close(bench, closing(billed_attempt=2, route="b/m", made=made)) == Granted()
        assert isinstance(await replay(bench, "req_1", "c/m"), Unavailable), "it is closed"
        assert bench.ledger.maker("alice", made) == "b/m"
        assert bench.ledger.maker("bob", made) is None

    play(body)


def test_who_made_what_is_known_ahead_of_the_end(play: Any) -> None:
    async def body(bench: Bench) -> None:
        await reserve(bench)
        made = (mark("resp_1"),)
        noted = await answered(lambda done: bench.ledger.remember("alice", "a/m", made, done))
        assert noted == Granted()
        assert (bench.ledger.maker("alice", made), bench.ledger.maker("bob", made)) == ("a/m", None)
        assert await close(bench, closing(made=made)) == Granted()
        assert bench.ledger.maker("alice", made) == "a/m"

    play(body)


def test_a_closing_that_cannot_be_is_a_refund(play: Any) -> None:
    async def body(bench: Bench) -> None:
        await reserve(bench)
        assert isinstance(await close(bench, closing(charge=101)), Unavailable)
        assert await reserve(bench, "req_2", amount=1000) == Granted()
        await close(bench, refund("req_2"))
        assert account(bench) == (0, 0, 1000)

    play(body)


def test_one_entry_of_each_kind_a_turn(play: Any) -> None:
    async def body(bench: Bench) -> None:
        for name, end in [("req_1", closing("req_1")), ("req_2", refund("req_2", loss=9))]:
            await reserve(bench, name)
            await close(bench, end)
        await reserve(bench, "req_3", amount=0)
        await close(bench, refund("req_3"))
        kinds = [(entry["turn"], entry["kind"]) for entry in bench.show()["entries"]]
        assert len(kinds) == len(set(kinds)) == 1 + 3 + 3 + 2
        assert bench.show()["losses"] == "0.000000009"

    play(body)


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_instant(tmp_path: Path, seed: int) -> None:
    """Everything that was said to be settled is charged, everything else refunded, to the digit."""
    path = tmp_path / "latchway.db"
    asyncio.run(_with_money(path))
    said = _until_killed(path, lines=random.Random(seed).randint(1, 400))
    settled = {line.split()[1] for line in said if line.startswith("settled ")}
    asyncio.run(_with_money(path, more=False))
    reader = open_reader(path)
    try:
        rows = dict(reader.execute("SELECT request_id, state FROM turn"))
        charged = {name for name, state in rows.items() if state == "settled"}
        assert verify(reader) == []
        assert settled <= charged, "what was said to be durable is"
        assert set(rows.values()) <= {"settled", "void"}, "nothing is left open"
        assert {line.split()[1] for line in said} <= set(rows)
        assert reader.execute("SELECT count(*) FROM log").fetchone() == (len(rows),)
    finally:
        reader.close()


async def _with_money(path: Path, more: bool = True) -> None:
    """Start and stop a gateway's ledger, with a key that never runs dry."""
    writer = Writer.open(path, asyncio.get_running_loop(), served_by="host/1")
    if more:
        await answered(lambda done: writer.order(create("alice", 10**15), done))
    writer.stop()


def _until_killed(path: Path, lines: int) -> list[str]:
    """Everything that the victim said; it is killed once it has said so many lines."""
    victim = subprocess.Popen(
        [sys.executable, str(TESTS / "conformance" / "victim.py"), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert victim.stdout is not None
    with victim.stdout as out:
        try:
            said = [out.readline() for _ in range(lines)]
        finally:
            victim.kill()
        said += out.readlines()
    victim.wait(10)
    assert len(said) >= lines, "it died before it was killed"
    return [line for line in said if line.endswith("\n")]
