"""Connections that may be used again, for each origin, and how new ones are made.

Invariant: a connection is here only after the clean end of an answer, with nothing after it
(what was left by one turn must never be read by another). It leaves when it is taken,
when its time is over, or as soon as anything comes on it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from latchway.alarm import Alarm
from latchway.upstreams.connection import Connection
from latchway.upstreams.http1 import Exchange
from latchway.upstreams.limits import Limits
from latchway.upstreams.lookup import Find, Lookups
from latchway.values import Value


class Origin(Value, frozen=True):
    """Where connections lead; they are shared by all routes that lead there."""

    secure: bool
    host: str
    port: int


def client_context() -> ssl.SSLContext:
    """TLS towards upstreams: verified always, 1.2 at least, HTTP/1.1 alone."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


class Pool:
    """Idle connections, and the way to all others. Bound to the running loop when first used.

    `find`: None, the system is asked where a host is. `made` is told of each new connection.
    """

    def __init__(
        self,
        limits: Limits,
        tls: ssl.SSLContext,
        find: Find | None = None,
        made: Callable[[asyncio.BaseTransport], None] | None = None,
    ) -> None:
        self._limits = limits
        self._tls = tls
        self._find = find or Lookups().find
        self._made = made
        self._idle: dict[Origin, dict[Connection, Alarm]] = {}
        self._known: dict[Connection, tuple[Origin, Alarm]] = {}
        """All that are open, each with the end of its time."""

    def start(self, origin: Origin, exchange: Exchange, head: bytes, body: bytes) -> Connection:
        """Send a request on an idle connection, at once, or else on a new one."""
        connection = self._take(origin) or self._dial(origin)
        connection.start(exchange, head, body)
        return connection

    def idle(self, origin: Origin) -> int:
        """How many connections wait for use."""
        return len(self._idle.get(origin, ()))

    def close(self) -> None:
        """Close the idle connections; those in use belong to their attempts."""
        for connections in list(self._idle.values()):
            for connection in list(connections):
                connection.close()

    def made(self, transport: asyncio.BaseTransport) -> None:
        """A connection is there."""
        if self._made is not None:
            self._made(transport)

    def keep(self, connection: Connection, said: float | None) -> None:
        """Take a connection back after a clean end."""
        seconds = self._keeping_seconds(said)
        if seconds <= 0:
            connection.close()
            return
        origin, alarm = self._known[connection]
        idle = self._idle.setdefault(origin, {})
        if len(idle) >= self._limits.idle_connections:
            next(iter(idle)).close()
        idle[connection] = alarm
        alarm.set(seconds, connection.close)

    def forget(self, connection: Connection) -> None:
        """A connection has been closed, idle or not."""
        origin, alarm = self._known.pop(connection)
        self._idle.get(origin, {}).pop(connection, None)
        alarm.stop()

    def _take(self, origin: Origin) -> Connection | None:
        """The connection used last: it is the least likely to be closed by its server."""
        idle = self._idle.get(origin)
        while idle:
            connection, alarm = idle.popitem()
            alarm.clear()
            if connection.quiet():
                return connection
            connection.close()
        return None

    def _dial(self, origin: Origin) -> Connection:
        connection = Connection(self, self._limits)
        loop = asyncio.get_running_loop()
        self._known[connection] = origin, Alarm(loop)
        connection.dialled_by(loop.create_task(self._connect(origin, connection)))
        return connection

    async def _connect(self, origin: Origin, connection: Connection) -> None:
        """Find the host, connect, shake hands. Proxies of the environment are not asked."""
        fault = await self._reach(origin, connection)
        if fault is not None:
            connection.unreachable(fault)

    async def _reach(self, origin: Origin, connection: Connection) -> OSError | None:
        """Try each address until one connects. Else the fault of the first, which the system
        prefers: the rest may be of a kind to which there is no way from here. A server that
        fails at TLS was reached."""
        found = await self._find(origin.host)
        if isinstance(found, OSError):
            return found
        first: OSError | None = None
        for address in found:
            fault = await self._try(origin, address, connection)
            if fault is None or isinstance(fault, ssl.SSLError):
                return fault
            first = first or fault
        return first

    async def _try(self, origin: Origin, address: str, connection: Connection) -> OSError | None:
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: connection,
                address,
                origin.port,
                ssl=self._tls if origin.secure else None,
                server_hostname=origin.host if origin.secure else None,
            )
        except OSError as fault:
            return fault
        return None

    def _keeping_seconds(self, said: float | None) -> float:
        if said is None:
            return self._limits.idle_seconds
        return min(self._limits.idle_seconds, said - self._limits.idle_margin_seconds)
