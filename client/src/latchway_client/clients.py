"""What the clients of both transports have in common: a turn to stream, a turn to send.

`send` is the only place that makes a new request for a turn, and `decide` the only one that
allows it.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from typing import Any

from latchway_client import log
from latchway_client.calls import Calls
from latchway_client.decide import Decision, decide
from latchway_client.ends import Result, TurnFailed
from latchway_client.events import Event
from latchway_client.limits import NO_RESENDS, Limits
from latchway_client.reading import Reading
from latchway_client.turns import AsyncTurn, Turn

OnEvent = Callable[[Event], object]


def ignore(event: Event) -> None:
    """What is done with events where nobody asks for them."""


def checked(key: str) -> str:
    """The key, if a header can carry it. Here and not later: whoever refuses a header shows it, and
    a key in an exception soon stands in a log."""
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise ValueError("the key holds what a header cannot carry, such as the end of a line")
    return key


class Client(ABC):
    """One turn at a time, over one transport."""

    pause = staticmethod(time.sleep)
    """How `send` waits."""

    @contextmanager
    def stream(self, *, calls: Calls | None = None, **request: Any) -> Generator[Turn, None, None]:
        """A turn with these fields. Leaving it early ends it; nothing is ever sent again.

        `calls`: those of an earlier request for the same turn.
        """
        reading = Reading(request, calls)
        with closing(self._events(request, reading)) as source:
            yield Turn(reading, source)

    def send(
        self,
        *,
        limits: Limits = NO_RESENDS,
        on_event: OnEvent = ignore,
        calls: Calls | None = None,
        **request: Any,
    ) -> Result:
        """The turn's result. It is sent again as far as `decide` and the limits allow.

        `on_event` gets every event, those of a request that then failed before output included.
        Raises TurnFailed, whose `decision` says why it was not sent again.
        """
        calls = Calls() if calls is None else calls
        resent = 0
        while True:
            try:
                with self.stream(calls=calls, **request) as turn:
                    for event in turn:
                        on_event(event)
                return turn.result
            except TurnFailed as failed:
                decision = judged(failed, limits, resent)
                if not decision.allowed:
                    raise
            self.pause(decision.wait)
            resent += 1

    @abstractmethod
    def _events(self, request: dict[str, Any], reading: Reading) -> Generator[Event, None, None]:
        """The events of one request. Raises Break where the transport ends."""


class AsyncClient(ABC):
    """One turn at a time, over one transport."""

    pause = staticmethod(asyncio.sleep)
    """How `send` waits."""

    @asynccontextmanager
    async def stream(
        self, *, calls: Calls | None = None, **request: Any
    ) -> AsyncGenerator[AsyncTurn, None]:
        """A turn with these fields. Leaving it early ends it; nothing is ever sent again.

        `calls`: those of an earlier request for the same turn.
        """
        reading = Reading(request, calls)
        async with aclosing(self._events(request, reading)) as source:
            yield AsyncTurn(reading, source)

    async def send(
        self,
        *,
        limits: Limits = NO_RESENDS,
        on_event: OnEvent = ignore,
        calls: Calls | None = None,
        **request: Any,
    ) -> Result:
        """The turn's result. It is sent again as far as `decide` and the limits allow.

        `on_event` gets every event, those of a request that then failed before output included.
        Raises TurnFailed, whose `decision` says why it was not sent again.
        """
        calls = Calls() if calls is None else calls
        resent = 0
        while True:
            try:
                async with self.stream(calls=calls, **request) as turn:
                    async for event in turn:
                        on_event(event)
                return turn.result
            except TurnFailed as failed:
                decision = judged(failed, limits, resent)
                if not decision.allowed:
                    raise
            await self.pause(decision.wait)
            resent += 1

    @abstractmethod
    def _events(self, request: dict[str, Any], reading: Reading) -> AsyncGenerator[Event, None]:
        """The events of one request. Raises Break where the transport ends."""


def judged(failed: TurnFailed, limits: Limits, resent: int) -> Decision:
    """Ask for the decision, and leave it where the caller finds it."""
    failed.decision = decide(failed.failure.situation(limits, resent))
    log.decided(failed.decision)
    return failed.decision
