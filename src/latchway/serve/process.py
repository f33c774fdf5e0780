"""The process: its loop, its sockets, its signals, and how it leaves.

This is the thin place where everything is put together. On SIGTERM or SIGINT the gateway drains:
it takes no new turns, closes what is idle, lets turns run for `shutdown_seconds`, ends what still
runs with an error, and leaves when the ledger has closed every reservation.
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
from collections.abc import Callable

from latchway.books import Ports
from latchway.ledger.control import Control
from latchway.ledger.database import LedgerFault
from latchway.ledger.report import Reader
from latchway.ledger.writer import Writer
from latchway.log import lines
from latchway.log.metrics import Metrics
from latchway.routes.table import RouteTable
from latchway.serve.app import App
from latchway.serve.http import HttpConnection
from latchway.settings import Settings, Tls
from latchway.upstreams.responses import ResponsesUpstreams

BACKLOG = 1024
"""Connections that the kernel may keep waiting: a burst of reconnecting clients."""

CLOSING_SECONDS = 5.0
"""For the last turns to be told and settled once their time is over; then for the last bytes to be
taken."""

DONE, FAILED = 0, 1

log = logging.getLogger("latchway")


class StartFault(Exception):
    """The gateway cannot start; the message names what to mend."""


def run(settings: Settings, *, started: Callable[[str], None] | None = None) -> int:
    """Serve until told to leave; the process's exit code. `started` is told the base URL."""
    lines.set_up()
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, started or _say_listening))
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


def _say_listening(url: str) -> None:
    print(f"latchway: listening on {url}", file=sys.stderr, flush=True)


async def _serve(settings: Settings, started: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    served_by = f"{socket.gethostname()}/{os.getpid()}"
    writer = Writer.open(
        settings.database, loop, served_by=served_by, keep_days=settings.log_keep_days
    )
    control, reader = Control(writer, settings.database), Reader(settings.database, writer)
    try:
        await control.start()
        await _serve_app(assemble(settings, loop, writer, reader, served_by), loop, started)
    finally:
        await control.stop()
        reader.close()
        writer.stop()  # the last to close, so that SQLite folds its log into the file


def assemble(
    settings: Settings,
    loop: asyncio.AbstractEventLoop,
    writer: Writer,
    reader: Reader,
    served_by: str,
) -> App:
    """Everything that a process's turns share, put together."""
    names = [route.name for model in settings.models.values() for route in model.routes]
    ports = Ports(
        settings=settings,
        clock=loop,
        wall=time.time,
        routes=RouteTable(settings, writer, loop.time),
        upstreams=ResponsesUpstreams(settings),
        ledger=writer,
        log=writer,
        metrics=Metrics(settings.models, names),
        served_by=served_by,
    )
    return App(ports, writer.keys, reader)


async def _serve_app(
    app: App, loop: asyncio.AbstractEventLoop, started: Callable[[str], None]
) -> None:
    settings = app.settings
    leave = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave.set)
    try:
        server = await loop.create_server(
            lambda: HttpConnection(app),
            settings.host,
            settings.port,
            ssl=_tls(settings.tls),
            backlog=BACKLOG,
        )
    except OSError as error:
        raise StartFault(f"listen: {settings.host}:{settings.port}: {error.strerror}") from None
    scheme = "https" if settings.tls else "http"
    host, port = server.sockets[0].getsockname()[:2]
    started(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")
    await leave.wait()
    leave.clear()
    await _drain(app, leave)
    server.close()
    await _part(app, leave)


async def _drain(app: App, hurry: asyncio.Event) -> None:
    """No new turns; wait for those that run, then end them. A second signal ends them at once."""
    log.info("draining %d turns", len(app.turns))
    over = asyncio.Event()
    app.drained = over.set
    app.drain()
    if app.turns:
        await _first_of(app.settings.shutdown_seconds, over, hurry)
    if app.turns:
        app.stop_turns()
        await _first_of(CLOSING_SECONDS, over)


async def _part(app: App, hurry: asyncio.Event) -> None:
    """Close every connection behind what was written to it."""
    empty = asyncio.Event()
    app.emptied = empty.set
    app.close_connections()
    if app.connections or app.sockets:
        await _first_of(CLOSING_SECONDS, empty, hurry)


async def _first_of(seconds: float, *events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


def _tls(tls: Tls | None) -> ssl.SSLContext | None:
    if tls is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise StartFault(f"tls: {tls.certificate}, {tls.key}: {error}") from None
    return context
