"""Names of upstreams, looked up: one lookup of a name at a time, each on a thread of its own.

The system's resolver blocks, for half a minute if name servers are silent. An event loop has a few
threads for it that all names share: turns for one dead name would take them all, and no other could
be looked up. Here a dead name holds one thread, however many wait for it, and there are never more
threads than names. They are daemons, so a process that leaves waits for none of them.

Nothing is kept: how long an address holds is for the owner of its name to say, and the system,
which may remember it for just so long, does not tell us.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread

Addresses = tuple[str, ...]
"""Numeric, in the order in which to try them."""

Found = Addresses | OSError
"""What came of a lookup. A value, for many wait: a fault raised in each would hold on to them."""

Find = Callable[[str], Awaitable[Found]]

NUMERIC = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV


def resolve(host: str) -> Addresses:
    """Ask the system, which may take its time. Raises OSError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(socket.getnameinfo(address, NUMERIC)[0] for *_, address in found)


class Lookups:
    """Those that run. Bound to the running loop when first used."""

    def __init__(self, resolve: Callable[[str], Addresses] = resolve) -> None:
        self._resolve = resolve
        self._running: dict[str, asyncio.Future[Found]] = {}

    async def find(self, host: str) -> Found:
        """Where a host is. Whoever is cancelled leaves the lookup running, for the others."""
        if _numeric(host):
            return (host,)
        return await asyncio.shield(self._running.get(host) or self._begin(host))

    def _begin(self, host: str) -> asyncio.Future[Found]:
        loop = asyncio.get_running_loop()
        thread = Thread(
            target=self._look_up, args=(host, loop), name="latchway-lookup", daemon=True
        )
        thread.start()  # where there is no room for one, nobody waits for it either
        self._running[host] = loop.create_future()
        return self._running[host]

    def _look_up(self, host: str, loop: asyncio.AbstractEventLoop) -> None:
        """On the lookup's thread."""
        found = self._ask(host)
        with suppress(RuntimeError):  # the loop is closed, nobody waits any longer
            loop.call_soon_threadsafe(self._tell, host, found)

    def _ask(self, host: str) -> Found:
        try:
            return self._resolve(host)
        except OSError as fault:
            return fault

    def _tell(self, host: str, found: Found) -> None:
        self._running.pop(host).set_result(found)


def _numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
