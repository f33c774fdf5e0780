"""Workers that cannot start are given up with a reason, and those that cannot leave are ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from latchway.workers import crew as crews
from latchway.workers.crew import Crew
from latchway.workers.office import Member
from latchway.workers.starts import FAILED_MOST
from ledger.writers import until

SECONDS = 30.0
ENDS = (sys.executable, "-S", "-c", "raise SystemExit(3)")
STAYS = (sys.executable, "-S", "-c", "import signal; signal.pause()")
LETS_GO = (
    sys.executable, "-S", "-c",
    "import os, signal, sys; os.close(int(sys.argv[1])); signal.pause()",
)  # fmt: skip
"""It closes its end of the link, and stays."""


class Deaf:
    """An office to which no worker ever speaks."""

    def __init__(self) -> None:
        self.lost_members: list[Member] = []
        self.ready: Callable[[Member], None]
        self.leaving: Callable[[Member], None]

    def hear(self, member: Member, message: Any) -> None:
        raise AssertionError(message)

    def lost(self, member: Member) -> None:
        self.lost_members.append(member)


def run(command: tuple[str, ...], body: Callable[[Crew], Coroutine[Any, Any, None]]) -> Deaf:
    """Two workers of this kind, until the body is done with them; the office they had."""
    office: Any = Deaf()

    async def go() -> None:
        crew = Crew(office, 2, [], command)
        crew.start()
        async with asyncio.timeout(SECONDS):
            await body(crew)
            await crew.kill()

    asyncio.run(go())
    deaf: Deaf = office
    return deaf


@pytest.mark.parametrize(
    ("command", "why"), [(ENDS, "exit status 3"), (("/nowhere/python",), "No such file")]
)
def test_those_that_keep_dying_at_start_are_given_up(command: tuple[str, ...], why: str) -> None:
    async def body(crew: Crew) -> None:
        await crew.failed.wait()
        assert crew.fault is not None
        assert crew.fault.startswith("workers keep ending before they serve: ")
        assert why in crew.fault
        assert not crew.serving.is_set()

    office = run(command, body)
    if command is ENDS:
        assert len(office.lost_members) >= FAILED_MOST


def test_those_that_do_not_serve_yet_are_not_waited_for() -> None:
    async def body(crew: Crew) -> None:
        await until(lambda: all(each.link.open for each in crew._lives.values()))
        crew.drain(hurry=False)
        await crew.empty.wait()
        assert not crew.failed.is_set()

    run(STAYS, body)


def test_one_that_is_being_started_when_all_leave_is_not_kept() -> None:
    async def body(crew: Crew) -> None:
        crew.drain(hurry=False)
        await crew.empty.wait()

    assert len(run(STAYS, body).lost_members) == 2


def test_one_that_has_let_go_but_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "EXIT_SECONDS", 0.01)

    async def body(crew: Crew) -> None:
        await crew.failed.wait()
        assert "exit status -9" in (crew.fault or "")

    run(LETS_GO, body)


def test_nobody_is_left_behind() -> None:
    async def body(crew: Crew) -> None:
        """Ended by `kill` alone."""

    assert run(STAYS, body).lost_members
