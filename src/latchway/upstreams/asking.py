"""One plain question to a provider, about a thing that it keeps. Not a turn: nothing is held,
replayed or charged, and the answer is taken whole, whatever its status."""

from __future__ import annotations

from collections.abc import Callable

from latchway.upstreams.answers import Body, Scrub, answer_of
from latchway.upstreams.connection import Connection
from latchway.upstreams.http1 import Head
from latchway.upstreams.pool import Origin, Pool
from latchway.wire.frame import Answer

Told = Callable[[Answer | str], None]
"""The answer, or in words why there is none; once."""


class Question:
    """A question under way (`Exchange`)."""

    def __init__(self, told: Told, max_bytes: int, scrub: Scrub) -> None:
        self._told, self._scrub = told, scrub
        self._body = Body(max_bytes)
        self._head: Head | None = None
        self._connection: Connection | None = None

    def run(self, pool: Pool, origin: Origin, head: bytes, body: bytes) -> None:
        """Start; once."""
        self._connection = pool.start(origin, self, head, body)

    def give_up(self) -> None:
        """Close its connection; nothing is told any more."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    # ---- Exchange

    def connected(self) -> None: ...
    def sent(self) -> None: ...

    def head(self, head: Head) -> None:
        self._head = head

    def body(self, data: bytes) -> None:
        self._body.add(data)
        if self._body.over:
            self.give_up()
            self._told("the upstream's answer is too large")

    def ended(self) -> None:
        self._connection = None
        assert self._head is not None, "an answer that ended has begun"
        if self._head.plain:
            self._told(answer_of(self._head, self._scrub(self._body.whole())))
        else:
            self._told("the upstream encoded its answer, although identity was asked for")

    def broke(self, reason: str) -> None:
        self._connection = None
        self._told(reason)
