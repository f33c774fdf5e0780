"""The process: its loop, its sockets, its signals, and how it leaves.

This is the thin place where everything is put together. On SIGTERM, SIGINT or SIGHUP the gateway
drains: it takes no new turns, closes what is idle, lets turns run for `shutdown_seconds`, ends what
still runs with an error, and leaves when the ledger has closed every reservation.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from latchway.books import Ports
from latchway.ledger.control import Control
from latchway.ledger.database import LedgerFault
from latchway.ledger.report import Reader
from latchway.ledger.writer import Writer
from latchway.log import lines
from latchway.log.metrics import Metrics
from latchway.moments import Moments
from latchway.routes.table import RouteTable
from latchway.serve import files, memory
from latchway.serve.app import App
from latchway.serve.figures import Figures
from latchway.serve.files import Files
from latchway.serve.http import HttpConnection
from latchway.settings import Settings, Tls
from latchway.upstreams.responses import ResponsesUpstreams

if TYPE_CHECKING:
    from latchway.workers.remote import RemoteLedger

BACKLOG = 1024
"""Connections that the kernel may keep waiting: a burst of reconnecting clients."""

CLOSING_SECONDS = 5.0
"""For the last turns to be told and settled once their time is over; then for the last bytes to be
taken."""

STEP_SECONDS = 1.0
"""Of what a process that leaves waits for; with two waits for the ledger, 2 s each, it fits in
CLOSING_SECONDS."""

DONE, FAILED = 0, 1

log = logging.getLogger("latchway")


class StartFault(Exception):
    """The gateway cannot start; the message names what to mend."""


def run(settings: Settings, *, started: Callable[[str], None] | None = None) -> int:
    """Serve until told to leave; the process's exit code. `started` is told the base URL."""
    return in_loop(lambda: _serve(settings, started or say_listening))


def in_loop(main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run a process to its end; a fault that it cannot go on with is said in a line."""
    lines.set_up()
    files.allow_many()
    memory.spare()
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(main())
    except (StartFault, LedgerFault) as fault:
        print(f"latchway: {fault}", file=sys.stderr)
        return FAILED
    return DONE


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed; asyncio's own loop does as well."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def say_listening(url: str) -> None:
    """What an operator, or a test, waits for. Whether anybody can hear it is no matter: a gateway
    serves on too if its log's reader leaves, or its disk is full."""
    with suppress(OSError):
        print(f"latchway: listening on {url}", file=sys.stderr, flush=True)


def served_by(pid: int) -> str:
    """Which process served a turn, in its record."""
    return f"{socket.gethostname()}/{pid}"


async def _serve(settings: Settings, started: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    me = served_by(os.getpid())
    writer = Writer.open(settings.database, loop, served_by=me, keep_days=settings.log_keep_days)
    control, reader = Control(writer, settings.database), Reader(settings.database, writer)
    try:
        await control.start()
        await _serve_app(assemble(settings, loop, writer, reader), loop, started)
    finally:
        await control.stop()
        reader.close()
        writer.stop()  # the last to close, so that SQLite folds its log into the file


def assemble(
    settings: Settings,
    loop: asyncio.AbstractEventLoop,
    ledger: Writer | RemoteLedger,
    reader: Reader,
    figures: Figures | None = None,
) -> App:
    """Everything that a process's turns share, put together. `figures`: None: its own."""
    few = Files(loop.time)
    loop.set_exception_handler(few.unheard)
    names = [route.name for model in settings.models.values() for route in model.routes]
    ports = Ports(
        settings=settings,
        clock=Moments(loop),
        wall=time.time,
        routes=RouteTable(settings, ledger, loop.time),
        upstreams=ResponsesUpstreams(settings, made=few.taken),
        ledger=ledger,
        log=ledger,
        metrics=Metrics(settings.models, names),
        served_by=served_by(os.getpid()),
    )
    return App(ports, ledger.keys, reader, figures, few)


async def _serve_app(
    app: App, loop: asyncio.AbstractEventLoop, started: Callable[[str], None]
) -> None:
    settings = app.settings
    leave = told_to_leave(loop)
    server = await bind(
        loop, settings, lambda: HttpConnection(app), ssl=tls(settings.tls), backlog=BACKLOG
    )
    started(url_of(settings, server))
    await leave.wait()
    leave.clear()
    await drain(app, leave)
    server.close()
    await part(app, leave)


def told_to_leave(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """Set by each signal that an operator sends, and by the end of the terminal, unless whoever
    started the process has called that off (`nohup`)."""
    leave = asyncio.Event()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, leave.set)
    return leave


async def bind(
    loop: asyncio.AbstractEventLoop,
    settings: Settings,
    connection: Callable[[], asyncio.BaseProtocol],
    **more: Any,
) -> asyncio.Server:
    """A server at the configured address. StartFault: it cannot be had."""
    try:
        return await loop.create_server(connection, settings.host, settings.port, **more)
    except OSError as error:
        raise StartFault(f"listen: {settings.host}:{settings.port}: {error.strerror}") from None


def url_of(settings: Settings, server: asyncio.Server) -> str:
    """The base URL at which it is reached."""
    scheme = "https" if settings.tls else "http"
    host, port = server.sockets[0].getsockname()[:2]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


async def drain(app: App, hurry: asyncio.Event) -> None:
    """No new turns; wait for those that run, then end them. A second signal ends them at once."""
    log.info("draining %d turns", len(app.turns))
    over = asyncio.Event()
    app.drained = over.set
    app.drain()
    if app.turns:
        await first_of(app.settings.shutdown_seconds, over, hurry)
    if app.turns:
        app.stop_turns()
        await first_of(CLOSING_SECONDS, over)


async def part(app: App, hurry: asyncio.Event) -> None:
    """Close every connection behind what was written to it."""
    empty = asyncio.Event()
    app.emptied = empty.set
    app.close_connections()
    if app.connections or app.sockets:
        await first_of(CLOSING_SECONDS, empty, hurry)


async def first_of(seconds: float | None, *events: asyncio.Event) -> None:
    """Until one of them is set, or so long. None: however long it takes.

    Time in which the process was stopped, or its machine asleep, counts as one step at most: what
    it waits for could not come meanwhile.
    """
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    for step in _steps(seconds):
        done, _ = await asyncio.wait(waits, timeout=step, return_when=asyncio.FIRST_COMPLETED)
        if done:
            break
    for wait in waits:
        wait.cancel()


def _steps(seconds: float | None) -> Iterator[float | None]:
    if seconds is None:
        yield None
    while seconds is not None and seconds > 0:
        yield min(seconds, STEP_SECONDS)
        seconds -= STEP_SECONDS


def tls(files: Tls | None) -> ssl.SSLContext | None:
    """What connections are encrypted with, if at all. StartFault: the files cannot be used."""
    if files is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.certificate, files.key)
    except (OSError, ssl.SSLError) as error:
        raise StartFault(f"tls: {files.certificate}, {files.key}: {error}") from None
    return context
