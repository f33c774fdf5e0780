"""An event loop without a world: the real adapters run on it, in a test's virtual time.

Only what they ask of a loop is here, and not in its whole generality: anything else raises
NotImplementedError. Connections are made by a `Network`, which is the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from harness.clock import VirtualClock, VirtualTimer


class Network(Protocol):
    """Who answers when a connection is asked for."""

    async def connect(self, host: str, make: Callable[[], asyncio.Protocol]) -> None:
        """Tell the protocol `connection_made`, or raise OSError."""


class _Handle(asyncio.TimerHandle):
    """A callback on the clock's agenda."""

    def __init__(self, timer: VirtualTimer, when: float, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(when, _nothing, (), loop)
        self._timer = timer

    def cancel(self) -> None:
        self._timer.cancel()


class VirtualLoop(asyncio.AbstractEventLoop):
    """Its rounds and its time are the clock's."""

    def __init__(self, clock: VirtualClock, network: Network) -> None:
        self._clock, self._network = clock, network

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within, it is what `asyncio.get_running_loop` returns."""
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def time(self) -> float:
        return self._clock.time()

    def get_debug(self) -> bool:
        return False

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> _Handle:
        return self.call_at(self.time(), callback, *args)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> _Handle:
        return self.call_at(self.time() + delay, callback, *args)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> _Handle:
        timer = self._clock.call_at(when, lambda: callback(*args))
        return _Handle(timer, when, self)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, Any], **_: Any
    ) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self)

    async def create_connection(  # type: ignore[override]
        self, make: Callable[[], asyncio.Protocol], host: str, port: int, **_: Any
    ) -> None:
        await self._network.connect(host, make)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Whatever goes wrong beside a caller is the test's failure."""
        raise AssertionError(context)


def _nothing() -> None:
    """A handle's own callback: the clock has the real one."""
