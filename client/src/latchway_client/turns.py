"""A turn as the application sees it: iterate over its events, then look at its result.

The two classes differ in `async` alone; what an event or a break means is the core's matter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator

from latchway_client import log
from latchway_client.calls import Calls
from latchway_client.ends import Break, Failure, Result, TurnFailed
from latchway_client.events import Event
from latchway_client.reading import Reading


class BaseTurn:
    """What a turn tells at any moment."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    @property
    def saw_output(self) -> bool:
        """False until the first output event has come, a tool call included; then True."""
        return self._reading.saw_output

    @property
    def text(self) -> str:
        """The text that has come."""
        return self._reading.text

    @property
    def calls(self) -> Calls:
        """The tool calls that have come, and which of them were acted on."""
        return self._reading.calls

    @property
    def response_id(self) -> str | None:
        return self._reading.response_id

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Every request id that the turn has told. Over a WebSocket that of the handshake, until
        the turn tells an id of its own."""
        return self._reading.request_ids

    @property
    def result(self) -> Result:
        """The result, once the terminal event has come. Until then RuntimeError, after a failure
        TurnFailed."""
        end = self._reading.end
        if isinstance(end, Failure):
            raise TurnFailed(end)
        if end is None:
            raise RuntimeError("the turn has no result yet: iterate over its events first")
        return end

    def _take(self, event: Event) -> None:
        """Raises TurnFailed if it is a failure."""
        end = self._reading.take(event)
        if end is not None:
            log.ended(end)
        if isinstance(end, Failure):
            raise TurnFailed(end)

    def _broken(self, stop: Break) -> TurnFailed:
        failure = self._reading.broken(stop)
        log.ended(failure)
        return TurnFailed(failure)


class Turn(BaseTurn):
    """Iterate over its events. Raises TurnFailed at every end that is no result.

    A source of events never ends by itself: it raises Break.
    """

    def __init__(self, reading: Reading, source: Generator[Event, None, None]) -> None:
        super().__init__(reading)
        self._source = source

    def __iter__(self) -> Iterator[Event]:
        try:
            while self._reading.end is None:
                event = next(self._source)
                self._take(event)
                yield event
        except Break as stop:
            raise self._broken(stop) from stop.__cause__


class AsyncTurn(BaseTurn):
    """As Turn."""

    def __init__(self, reading: Reading, source: AsyncGenerator[Event, None]) -> None:
        super().__init__(reading)
        self._source = source

    async def __aiter__(self) -> AsyncIterator[Event]:
        try:
            while self._reading.end is None:
                event = await anext(self._source)
                self._take(event)
                yield event
        except Break as stop:
            raise self._broken(stop) from stop.__cause__
