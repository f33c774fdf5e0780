"""Who listens to a connection while it carries a request."""

from __future__ import annotations

from typing import Protocol

from latchway.upstreams.http1 import Head


class Exchange(Protocol):
    """Who is told what happens to one request. Never from within `Connection.start`."""

    def connected(self) -> None:
        """The request can be written."""

    def sent(self) -> None:
        """The transport holds no more of the request. (Below TLS a last record may wait.)"""

    def head(self, head: Head) -> None: ...

    def body(self, data: bytes) -> None:
        """All of the body that one read brought, in one piece."""

    def ended(self) -> None:
        """The body ended cleanly. The last call."""

    def broke(self, reason: str) -> None:
        """There will be no clean end. The last call."""


class _Nobody:
    """Listens to an exchange whose owner has left."""

    def connected(self) -> None: ...
    def sent(self) -> None: ...
    def head(self, head: Head) -> None: ...
    def body(self, data: bytes) -> None: ...
    def ended(self) -> None: ...
    def broke(self, reason: str) -> None: ...


NOBODY = _Nobody()
