"""The process that owns the database and the listening sockets, and serves nobody itself.

The workers share one listening socket, which they inherit, rather than having one each by
SO_REUSEPORT: connections that wait belong to the socket and not to a worker, so one that leaves or
dies takes none with it, and whoever is idle takes the next.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from latchway.ledger.control import Control
from latchway.ledger.writer import Writer
from latchway.serve import process
from latchway.serve.process import CLOSING_SECONDS, StartFault, first_of
from latchway.settings import Settings
from latchway.workers.crew import Crew
from latchway.workers.office import Office

LEAVING_SECONDS = 2 * CLOSING_SECONDS + 2.0
"""For a worker to tell its last turns, to close its connections, and to end."""


def run(
    settings: Settings,
    workers: int,
    *,
    started: Callable[[str], None] | None = None,
    failpoint: str = "",
) -> int:
    """As `process.run`, with so many workers. `failpoint` is armed in each."""
    tell = started or process.say_listening
    return process.in_loop(lambda: _supervise(settings, workers, tell, failpoint))


async def _supervise(
    settings: Settings, workers: int, started: Callable[[str], None], failpoint: str
) -> None:
    loop = asyncio.get_running_loop()
    process.tls(settings.tls)  # its fault is said once, and before anything is begun
    me = process.served_by(os.getpid())
    writer = Writer.open(settings.database, loop, served_by=me, keep_days=settings.log_keep_days)
    office = Office(settings, writer, loop, failpoint)
    control = Control(office, settings.database)
    try:
        await control.start()
        server = await process.bind(loop, settings, asyncio.Protocol, start_serving=False)
        crew = Crew(office, workers, [each.fileno() for each in server.sockets])
        url = process.url_of(settings, server)
        await _lead(crew, settings.shutdown_seconds, lambda: started(url))
        server.close()
    finally:
        await control.stop()
        writer.stop()  # the last to close, so that SQLite folds its log into the file


async def _lead(crew: Crew, shutdown_seconds: float, started: Callable[[], None]) -> None:
    """From the first start to the last end. StartFault: they cannot be made to serve."""
    leave = process.told_to_leave(asyncio.get_running_loop())
    try:
        crew.start()
        await first_of(None, crew.serving, crew.failed, leave)
        if crew.serving.is_set():
            started()
        await first_of(None, crew.failed, leave)
        leave.clear()
        crew.drain(hurry=False)
        await first_of(shutdown_seconds + LEAVING_SECONDS, crew.empty, leave)
        crew.drain(hurry=True)
        await first_of(LEAVING_SECONDS, crew.empty)
    finally:
        await crew.kill()
    if crew.fault is not None:
        raise StartFault(crew.fault)
