"""What the process asks of Python's collector and of the C library's heap, once, at its start."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Final

YOUNG_OBJECTS = 10_000
"""New ones at which the collector looks for cycles; Python's own limit is 700. Turns leave none,
nor do connections (one that breaks the WebSocket protocol leaves a few), and a hundred turns in
flight, which it would look through again and again, have fewer."""

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Names of `mallopt(3)`."""

HEAP: Final = {
    M_TRIM_THRESHOLD: 16 << 20,
    M_TOP_PAD: 1 << 20,
    M_MMAP_THRESHOLD: 1 << 20,
}
"""Bytes. A read of hundreds of events takes some buffers of its own size and leaves them at once.
By its defaults the heap gives them back to the system each time, and has each of their pages anew
with the next read, at a fault a page: a fifth of what such a turn cost. Up to 16 MiB are kept. What
is of a megabyte or more, as large requests are, is still given back as soon as it is left."""


def spare() -> None:
    """Call it once all is loaded: that stays as long as the process, and is not looked through
    again."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    keep_the_heap()


def keep_the_heap() -> None:
    """Where the C library is not glibc, there is no such call, and nothing to be set."""
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, size in HEAP.items():
            mallopt(option, size)
