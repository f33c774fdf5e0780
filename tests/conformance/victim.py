"""A process that serves turns on a database until it is killed. It says what became durable.

Run as `victim.py DATABASE`. A line `opened N` or `settled N` is written only after the ledger has
granted it, so whatever was said must be there afterwards.
"""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from latchway.ledger.writer import Writer
from latchway.ports import Granted
from ledger.parts import closing, opening

AT_ONCE = 16
"""Turns in flight, so that a kill meets commits of several."""


async def serve(path: Path) -> None:
    """Open turns and settle them, until the process is killed."""
    writer = Writer.open(path, asyncio.get_running_loop(), served_by=f"victim/{os.getpid()}")
    begin = partial(_begin, writer)
    for number in range(AT_ONCE):
        begin(number)
    await asyncio.Event().wait()


def _begin(writer: Writer, number: int) -> None:
    name = f"req_{os.getpid()}_{number}"

    def opened(answer: object) -> None:
        _say(answer, f"opened {name}")
        writer.close(closing(name), closed)

    def closed(answer: object) -> None:
        _say(answer, f"settled {name}")
        _begin(writer, number + AT_ONCE)

    writer.reserve(opening(name), opened)


def _say(answer: object, line: str) -> None:
    assert answer == Granted(), answer
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
