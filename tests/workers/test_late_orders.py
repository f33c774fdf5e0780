"""A key that was revoked or made too late for its command changes in every worker all the same."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.gateway import settings
from latchway.ledger import orders, writer
from latchway.ledger.keys import Keys
from latchway.ports import Unavailable
from latchway.workers import messages
from latchway.workers.link import Link
from latchway.workers.messages import Hello, KeyChange, Ready, Told, Welcome
from latchway.workers.office import Member, Office
from ledger.disks import Disk
from ledger.parts import answered
from ledger.writers import ALICE, BOB, BOBS, SECRET, opened, order, run, until


class Played:
    """A worker on a real link, as far as its keys go."""

    def __init__(self, link: Link, supervisors: Link) -> None:
        self.keys, self._link, self._supervisors = Keys(), link, supervisors
        self.welcomed = False

    def hear(self, message: Any) -> None:
        if isinstance(message, Welcome):
            for row in message.keys:
                self.keys.put(row)
            self.welcomed = True
            self._link.send(Ready())
        elif isinstance(message, KeyChange):
            self.keys.put(message.row)
            self._link.send(Told(message.number))

    async def leave(self) -> None:
        self._link.close()
        await until(lambda: not (self._link.open or self._supervisors.open))


async def worker_of(office: Office, pid: int) -> Played:
    """One that has been welcomed."""
    loop = asyncio.get_running_loop()
    ours, theirs = (
        Link(loop.call_soon, decoder)
        for decoder in (messages.from_workers, messages.from_supervisor)
    )
    member, played = Member(ours), Played(theirs, ours)
    ours.heard, ours.lost = partial(office.hear, member), partial(office.lost, member)
    theirs.heard, theirs.lost = played.hear, lambda: None
    for link, end in zip((ours, theirs), socket.socketpair(), strict=True):
        await loop.create_unix_connection(partial(_same, link), sock=end)
    theirs.send(Hello(pid))
    await until(lambda: played.welcomed)
    return played


def _same(link: Link) -> Link:
    return link


ORDERS = {
    # what is asked, whose secret it is about, and whether that opens something in the end
    "create": (BOB, BOBS, True),
    "revoke": (orders.RevokeKey("alice"), SECRET, False),
}


@pytest.mark.parametrize("what", ORDERS)
def test_it_reaches_every_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    disk, (asked, secret, opens) = Disk(), ORDERS[what]

    async def body() -> None:
        with opened(tmp_path / "latchway.db", disk) as it:
            await order(it, ALICE)
            office = Office(settings(), it, asyncio.get_running_loop(), "")
            workers = [await worker_of(office, pid) for pid in (7, 8)]
            monkeypatch.setattr(writer, "ANSWER_SECONDS", 0.02)
            disk.hang("COMMIT")
            assert isinstance(await answered(lambda done: office.order(asked, done)), Unavailable)
            tables = [it.keys, *(each.keys for each in workers)]
            assert [table.check(secret) is not None for table in tables] == [not opens] * 3
            disk.hangs.set()
            await until(lambda: all((table.check(secret) is not None) is opens for table in tables))
            for each in workers:
                await each.leave()

    run(body)
