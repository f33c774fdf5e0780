"""The workers as processes: how they are started, watched, replaced and sent home.

Each is a fresh interpreter, not a fork: the supervisor has a thread, a database and a loop, none of
which may be carried over. It is given the listening sockets and one end of a socket pair, whose end
is how its death is known.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial

from latchway.workers import messages
from latchway.workers.link import Link
from latchway.workers.messages import Drain
from latchway.workers.office import Member, Office
from latchway.workers.starts import Starts

COMMAND = (sys.executable, "-P", "-m", "latchway.workers.worker")
"""`-P`: the working folder is the operator's, not a place of our modules."""

EXIT_SECONDS = 5.0
"""From the end of its link to the end of its process; then it is killed."""

log = logging.getLogger(__name__)


class Crew:
    """`workers` of them on the sockets `listening` (file descriptors).

    `serving`: all are ready for the first time. `failed`: they keep dying before they are; `fault`
    says why. `empty`: sent home, and gone.
    """

    def __init__(
        self,
        office: Office,
        workers: int,
        listening: Sequence[int],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._office, self._workers = office, workers
        self._listening, self._command = tuple(listening), tuple(command)
        self._loop = asyncio.get_running_loop()
        self._starts = Starts(workers, self._loop.time())
        self._lives: dict[asyncio.Task[None], Member] = {}
        self._going = False
        self.serving, self.failed, self.empty = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.fault: str | None = None
        office.ready, office.leaving = self._ready, self._leaving

    def start(self) -> None:
        for _ in range(self._workers):
            self._begin()

    def drain(self, *, hurry: bool) -> None:
        """Send all home; those that do not serve yet have nothing to end."""
        self._going = True
        for member in self._lives.values():
            if member.ready:
                member.link.send(Drain(hurry))
            else:
                member.kill()
        self._look()

    async def kill(self) -> None:
        """End what is left."""
        self._going = True
        for member in self._lives.values():
            member.kill()
        if self._lives:
            await asyncio.wait(list(self._lives))

    # ---- one life

    def _begin(self) -> None:
        if self._going:
            return
        member = Member(Link(self._loop.call_soon, messages.from_workers))
        life = self._loop.create_task(self._live(member))
        self._lives[life] = member
        life.add_done_callback(self._ended)

    async def _live(self, member: Member) -> None:
        over = asyncio.Event()

        def lost() -> None:
            self._office.lost(member)
            over.set()

        member.link.heard, member.link.lost = partial(self._office.hear, member), lost
        process, link = await self._spawn()
        member.kill = partial(_kill, process)
        await self._loop.create_unix_connection(lambda: member.link, sock=link)
        if self._going:
            member.kill()
        await over.wait()
        status = await _exit_status(process)
        if not self._going and not member.leaving:
            self._replace(member, member.reason or f"exit status {status}")

    async def _spawn(self) -> tuple[asyncio.subprocess.Process, socket.socket]:
        """The process, and our end of its link. OSError: there can be none now."""
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as unless_started:
            unless_started.callback(ours.close)
            handles = (theirs.fileno(), *self._listening)
            process = await asyncio.create_subprocess_exec(
                *self._command,
                *map(str, handles),
                pass_fds=handles,
                stdin=asyncio.subprocess.DEVNULL,
            )
            unless_started.pop_all()
        return process, ours

    def _ended(self, life: asyncio.Task[None]) -> None:
        member = self._lives.pop(life)
        fault = life.exception()
        if fault is not None:
            self._replace(member, str(fault))
        self._look()

    def _replace(self, member: Member, why: str) -> None:
        log.warning("a worker has ended: %s", why)
        self._again(member, why)

    def _again(self, member: Member, why: str) -> None:
        seconds = self._starts.again(self._loop.time(), served=member.ready)
        if seconds is None:
            self.fault = f"workers keep ending before they serve: {why}"
            self.failed.set()
        else:
            self._loop.call_later(seconds, self._begin)

    def _look(self) -> None:
        if self._going and not self._lives:
            self.empty.set()

    # ---- what the office tells

    def _ready(self, member: Member) -> None:
        self._starts.served()
        if sum(each.ready for each in self._lives.values()) >= self._workers:
            self.serving.set()

    def _leaving(self, member: Member) -> None:
        """By its own wish: its successor is started beside it."""
        if not self._going:
            self._again(member, "told to leave")


async def _exit_status(process: asyncio.subprocess.Process) -> int:
    try:
        async with asyncio.timeout(EXIT_SECONDS):
            return await process.wait()
    except TimeoutError:
        _kill(process)
        return await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
