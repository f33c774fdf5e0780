"""One worker: it serves as the only process of a gateway does, with a ledger that is elsewhere.

Started by the supervisor alone, with file descriptors as its words: its end of the link, then the
listening sockets. It ends when it is told to, or when the link does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

from latchway import failpoints
from latchway.ledger.database import LedgerFault, open_reader
from latchway.ledger.keys import Keys
from latchway.ledger.known import Known
from latchway.ledger.report import Reader
from latchway.ledger.sqlite import wall_clock_ms
from latchway.ledger.writer import MS_PER_DAY
from latchway.serve import process
from latchway.serve.app import App
from latchway.serve.figures import OwnFigures
from latchway.serve.http import HttpConnection
from latchway.serve.process import BACKLOG, StartFault, first_of
from latchway.workers import figures, messages
from latchway.workers.link import Link
from latchway.workers.messages import (
    Answer,
    Ask,
    Drain,
    Failed,
    Hello,
    KeyChange,
    Leaving,
    Message,
    Ready,
    Reply,
    Report,
    Told,
    Welcome,
)
from latchway.workers.questions import Questions
from latchway.workers.remote import GONE, RemoteLedger

REPORT_SECONDS = 1.0
"""Between two reports while turns end: what a worker that is killed has counted since is lost."""
FRESH_SECONDS = 0.2
"""Before it drains by its own wish: connections that it has just taken say what they want."""


class SharedFigures:
    """`serve.figures.Figures` of all workers."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    def metrics(self) -> bytes:
        text: bytes = self._questions.ask("metrics")
        return text

    def routes(self) -> list[dict[str, Any]]:
        states: list[dict[str, Any]] = self._questions.ask("routes")
        return states


class Worker:
    """What it hears, and its way from the welcome to the end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, link: Link) -> None:
        self._loop, self._link = loop, link
        link.heard, link.lost = self._hear, self._lost
        self._questions = Questions(link, loop.call_soon_threadsafe)
        self._keys = Keys()
        self._welcomed = loop.create_future()
        self._ledger: RemoteLedger | None = None
        self._app: App | None = None
        self._reported = 0
        self._signals = 0
        self._leave, self._hurry, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def serve(self, listening: Sequence[socket.socket]) -> None:
        """StartFault, LedgerFault: it cannot, or cannot any more."""
        self._link.send(Hello(os.getpid()))
        welcome: Welcome = await self._welcomed
        failpoints.arm(welcome.failpoint)
        settings = welcome.settings
        keep_ms = int(settings.log_keep_days * MS_PER_DAY)
        known = Known(open_reader(settings.database), wall_clock_ms, keep_ms)
        ledger = RemoteLedger(self._link, self._loop, self._keys, known, self._questions)
        reader = Reader(settings.database, ledger)
        self._ledger = ledger
        self._app = process.assemble(
            settings, self._loop, ledger, reader, SharedFigures(self._questions)
        )
        self._loop.add_signal_handler(signal.SIGTERM, self._told_to_leave)
        await self._serve_app(self._app, listening)
        self._link.send(self._report())
        reader.close()
        ledger.stop()

    async def _serve_app(self, app: App, listening: Sequence[socket.socket]) -> None:
        tls = process.tls(app.settings.tls)
        servers = [
            await self._loop.create_server(
                lambda: HttpConnection(app), sock=each, ssl=tls, backlog=BACKLOG
            )
            for each in listening
        ]
        self._link.send(Ready())
        self._report_again()
        await self._leave.wait()
        if self._signals or not self._link.open:  # others serve on, or a next gateway will
            _close(servers)
            await first_of(FRESH_SECONDS, self._hurry)
        await process.drain(app, self._hurry)
        _close(servers)
        await process.part(app, self._hurry)

    # ---- what comes from outside

    def _told_to_leave(self) -> None:
        """By a signal of its own, unless it leaves with all; a second one hurries."""
        self._signals += 1
        if self._leave.is_set():
            if self._signals > 1:
                self._hurry.set()
            return
        self._link.send(Leaving())
        self._leave.set()

    def _hear(self, message: Message) -> None:
        HEAR[type(message)](self, message)

    def _lost(self) -> None:
        """The supervisor is gone, or has let it go: turns that run end now, and it with them."""
        self._questions.lost()
        if self._ledger is not None:
            self._ledger.lost()
        if not self._welcomed.done():
            self._welcomed.set_exception(StartFault(GONE))
        for event in (self._leave, self._hurry, self.over):
            event.set()

    def _welcome(self, message: Welcome) -> None:
        for row in message.keys:
            self._keys.put(row)
        self._welcomed.set_result(message)

    def _answer(self, message: Answer) -> None:
        assert self._ledger is not None
        self._ledger.answer(message)

    def _reply(self, message: Reply) -> None:
        self._questions.reply(message)

    def _change(self, message: KeyChange) -> None:
        self._keys.put(message.row)
        self._link.send(Told(message.number))

    def _ask(self, message: Ask) -> None:
        if message.report:
            self._link.send(self._report())
        self._link.send(Told(message.number))

    def _drain(self, message: Drain) -> None:
        self._leave.set()
        if message.hurry:
            self._hurry.set()

    # ---- what it has counted

    def _report(self) -> Report:
        assert self._app is not None
        ports = self._app.ports
        return Report(figures.families(ports.metrics.registry), OwnFigures(ports).routes())

    def _report_again(self) -> None:
        """A turn that ended was counted, and its record was written behind that."""
        assert self._ledger is not None
        if self._reported != self._ledger.records:
            self._reported = self._ledger.records
            self._link.send(self._report())
        if not self._leave.is_set():
            self._loop.call_later(REPORT_SECONDS, self._report_again)


HEAR: dict[type[Message], Callable[[Worker, Any], None]] = {
    Welcome: Worker._welcome,
    Answer: Worker._answer,
    Reply: Worker._reply,
    KeyChange: Worker._change,
    Ask: Worker._ask,
    Drain: Worker._drain,
}


def _close(servers: Sequence[asyncio.Server]) -> None:
    """Its own handles alone: the sockets go on listening for the others."""
    for server in servers:
        server.close()


async def _work(link_handle: int, listening: Sequence[int]) -> None:
    loop = asyncio.get_running_loop()
    link = Link(loop.call_soon, messages.from_supervisor)
    worker = Worker(loop, link)
    await loop.create_unix_connection(lambda: link, sock=socket.socket(fileno=link_handle))
    try:
        await worker.serve([socket.socket(fileno=handle) for handle in listening])
    except (StartFault, LedgerFault) as fault:
        link.send(Failed(str(fault)))
        raise
    finally:
        alone = not link.open
        link.close()
        await worker.over.wait()
    if alone:
        raise LedgerFault(GONE)


def main() -> int:
    """The process. Ctrl-C, and the end of the terminal, reach it beside its supervisor, which sees
    to it that it drains."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    link, *listening = map(int, sys.argv[1:])
    return process.in_loop(lambda: _work(link, listening))


if __name__ == "__main__":
    sys.exit(main())
