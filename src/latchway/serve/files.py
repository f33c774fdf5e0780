"""File descriptors: how many a process may have, and what it says when few are left."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
from collections.abc import Callable
from contextlib import suppress
from typing import Any

SCARCE = 0.9
"""Of those that there may be: from here on it is said. A stream takes two."""

SILENCE_SECONDS = 60.0
"""Between two such lines."""

FEW_LEFT = (
    "%d of %d file descriptors are taken, two by each stream; without one no connection is made: "
    "raise the limit (ulimit -n, LimitNOFILE)"
)

NONE_LEFT = (
    "no file descriptor is left (%s): new connections wait; "
    "raise the limit (ulimit -n, LimitNOFILE)"
)

SYSTEM_IS_FULL = frozenset({errno.EMFILE, errno.ENFILE})

log = logging.getLogger("latchway")


def allow_many() -> None:
    """Shells and service managers give 1024 to whoever does not ask, for programs that cannot have
    more; up to the hard limit one may ask. Where that is not granted (macOS, if there is none), it
    serves with what it has."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Files:
    """Is told of each connection that is made, a client's or to an upstream. Of those that it has
    no descriptor for, a process hears late or never: uvloop closes a client's without a word. So
    it is said before. `time`: seconds."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self._silent_until: dict[str, float] = {}

    def taken(self, transport: asyncio.BaseTransport) -> None:
        """By a new connection: its descriptor's number is the lowest that was free."""
        own = transport.get_extra_info("socket")
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if own is None or own.fileno() < SCARCE * most or most == resource.RLIM_INFINITY:
            return
        self._say(FEW_LEFT, own.fileno() + 1, most)

    def unheard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The loop's handler of what nobody handles. asyncio's own loop tells it of a client for
        whom there is no descriptor, a thousand times a second; all else is said as ever."""
        fault = context.get("exception")
        if "socket" in context and isinstance(fault, OSError) and fault.errno in SYSTEM_IS_FULL:
            self._say(NONE_LEFT, fault.strerror)
        else:
            loop.default_exception_handler(context)

    def _say(self, what: str, *figures: object) -> None:
        """Once in a while, however often it is so."""
        now = self._time()
        if now >= self._silent_until.get(what, now):
            self._silent_until[what] = now + SILENCE_SECONDS
            log.warning(what, *figures)
