"""What the process asks of Python's collector and of the C library's heap, once, at its start."""

from __future__ import annotations

import gc
import os
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
    M_MMAP_THRESHOLD: 8 << 20,
}
"""Bytes. A read of hundreds of events, or a large request, takes some buffers of its own size and
leaves them at once. By its defaults the heap may give them back to the system each time, and have
each of their pages anew with the next one, at a fault a page: a fifth of what such a turn cost. Up
to 16 MiB are kept. Buffers of 8 MiB or more do not come from the heap, and are given back at once.
"""

OPERATORS: Final = ("MALLOC_", "GLIBC_TUNABLES")
"""How the names of variables begin by which an operator sets the same: then nothing is set here."""


def spare() -> None:
    """Call it once all is loaded: that stays as long as the process, and is not looked through
    again."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    keep_the_heap()


def keep_the_heap() -> bool:
    """Was it set? Not where there is no such call (another C library, a Python without ctypes)."""
    if any(name.startswith(OPERATORS) for name in os.environ):
        return False
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        return all(mallopt(option, size) for option, size in HEAP.items())
    return False
