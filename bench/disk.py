"""How long the disk takes to make a write durable: what a turn of a durable gateway waits for.

Without it a figure of turns a second cannot be read, since that many connections wait for it twice.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile

WRITES = 30
BLOCK = bytes(4096)


def sync_ms(folder: Path) -> float:
    """The median of a few small writes, in milliseconds."""
    with TemporaryFile(dir=folder, buffering=0) as file:
        return 1e3 * median(_sync(file.fileno()) for _ in range(WRITES))


def _sync(file: int) -> float:
    os.write(file, BLOCK)
    began = time.monotonic()
    os.fdatasync(file)
    return time.monotonic() - began
