"""What is left to the collector: objects of ours that only it can free."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OURS = ("latchway", "httptools")


@contextmanager
def leftovers() -> Iterator[list[str]]:
    """A list that holds, once the block is over, the kinds of object that it has left in cycles."""
    found: list[str] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        kinds = {type(each) for each in gc.garbage}
        found += sorted(k.__qualname__ for k in kinds if k.__module__.startswith(OURS))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
