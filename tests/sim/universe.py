"""Virtual time, and in it one process with an event loop that behaves as asyncio's does.

What happens outside the process (bytes arrive, a disk is done, a client acts) happens at its own
moment, whether the loop is busy or not; the loop hears of it in its next round, and a round is
asyncio's: what was called soon, then input and output, then the timers that are due. That is where
arrival and consumption come apart (I-R3).
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from itertools import count
from random import Random
from typing import Any, Protocol


class Violation(BaseException):
    """Something that must never be, was. Nothing in the gateway may catch it."""


class Killed(BaseException):
    """The process dies here, as by `kill -9`. Nothing in it may catch this."""


class Handle:
    """One call that a loop owes; cancelled, it is none."""

    __slots__ = ("args", "callback")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.callback: Callable[..., object] | None = callback
        self.args = args

    def cancel(self) -> None:
        self.callback = None


class Pollable(Protocol):
    def poll(self) -> None:
        """The loop looks at this socket."""


class Universe:
    """All that happens, in order. `trace`: what is told of it, if anybody wants to know."""

    def __init__(self, seed: int, *, traced: bool = False) -> None:
        self.random = Random(seed)
        self.now = 1000.0
        self.process: Process | None = None
        self.trace: list[str] | None = [] if traced else None
        self._agenda: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()
        self.killed: Callable[[], None] = lambda: None
        """What follows when the process has died within a step."""

    def note(self, text: str, *args: object) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.now:12.3f}  {text % args if args else text}")

    def after(self, seconds: float, callback: Callable[[], object]) -> None:
        """Let something happen outside the process."""
        heapq.heappush(self._agenda, (self.now + seconds, next(self._order), callback))

    def run(self) -> None:
        """Until nothing is left that could happen."""
        agenda = self._agenda
        while True:
            due = self.process.due() if self.process is not None else None
            if agenda and (due is None or agenda[0][0] <= due):
                when, _, callback = heapq.heappop(agenda)
                self.now = max(self.now, when)
                self._step(callback)
            elif due is not None and self.process is not None:
                self.now = max(self.now, due)
                self._step(self.process.run_once)
            else:
                return

    def _step(self, callback: Callable[[], object]) -> None:
        try:
            callback()
        except Killed:
            self.killed()


class Task:
    """A coroutine that waits for connections and nothing else."""

    def __init__(self, process: Process, coroutine: Coroutine[Any, Any, None]) -> None:
        self._process, self._coroutine = process, coroutine
        self.purpose = process.opening
        self._pending: Any = None
        self._over = False
        process.tasks.append(self)
        process.call_soon(self._step, None)

    def cancel(self) -> None:
        self._process.call_soon(self._step, asyncio.CancelledError())

    def die(self) -> None:
        """The process is gone: the coroutine never goes on."""
        if not self._over:
            self._over = True
            self._coroutine.close()

    def _step(self, fault: BaseException | None) -> None:
        if self._over:
            return
        if self._pending is not None:
            self._pending.abandoned = fault is not None
        self._process.current = self
        try:
            if fault is None:
                self._pending = self._coroutine.send(None)
                self._pending.then = self._step
            else:
                self._coroutine.throw(fault)
        except (StopIteration, asyncio.CancelledError):
            self._over = True
            self._process.tasks.remove(self)


class Pending(Awaitable[None]):
    """A connection that is being made. `then(fault)` goes on; `abandoned`: nobody waits."""

    def __init__(self) -> None:
        self.then: Callable[[BaseException | None], object] = lambda fault: None
        self.abandoned = False

    def __await__(self) -> Generator[Pending, None, None]:
        yield self


Dial = Callable[["Process", Any, str, int, Pending], Callable[[], Any]]


class Process:
    """The loop of one process; as much of `asyncio.AbstractEventLoop` as the gateway uses."""

    def __init__(self, universe: Universe, dial: Dial) -> None:
        self.universe = universe
        self.stalled_until = 0.0
        """The loop is busy, or the machine sleeps: nothing of the process runs before."""
        self.opening: Any = None
        """For what the connections are that are asked for now."""
        self.current: Task | None = None
        self.tasks: list[Task] = []
        """Those that are not over."""
        self._dial = dial
        self._ready: deque[Handle] = deque()
        self._polled: list[Pollable] = []
        self._timers: list[tuple[float, int, Handle]] = []
        self._order = count()

    # ---- asyncio

    def time(self) -> float:
        return self.universe.now

    def call_soon(self, callback: Callable[..., object], *args: Any) -> Handle:
        handle = Handle(callback, args)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_at(self, when: float, callback: Callable[..., object], *args: Any) -> Handle:
        handle = Handle(callback, args)
        heapq.heappush(self._timers, (when, next(self._order), handle))
        return handle

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Handle:
        return self.call_at(self.universe.now + seconds, callback, *args)

    def is_closed(self) -> bool:
        return self.universe.process is not self

    def create_task(self, coroutine: Coroutine[Any, Any, None]) -> Task:
        return Task(self, coroutine)

    async def create_connection(
        self, factory: Callable[[], Any], host: str, port: int, **tls: Any
    ) -> None:
        """Dial, and hand the transport to the factory's protocol. OSError: there is none."""
        assert self.current is not None
        pending = Pending()
        made = self._dial(self, self.current.purpose, host, port, pending)
        await pending
        transport = made()
        transport.set_protocol(factory())
        self.call_soon(transport.begin)

    # ---- rounds

    def poll_soon(self, socket: Pollable) -> None:
        """There is something to be read, or room to write."""
        self._polled.append(socket)

    def due(self) -> float | None:
        """When the next round is; None: there is nothing to wait for."""
        if self._ready or self._polled:
            return max(self.universe.now, self.stalled_until)
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heapq.heappop(timers)
        return max(timers[0][0], self.stalled_until) if timers else None

    def run_once(self) -> None:
        ready, self._ready = self._ready, deque()
        polled, self._polled = self._polled, []
        if len(polled) > 1:
            self.universe.random.shuffle(polled)
        ready.extend(Handle(socket.poll, ()) for socket in polled)
        timers, now = self._timers, self.universe.now
        while timers and timers[0][0] <= now:
            ready.append(heapq.heappop(timers)[2])
        for handle in ready:
            if handle.callback is not None:
                handle.callback(*handle.args)

    def timers(self) -> list[Handle]:
        """What is still timed."""
        return [handle for _, _, handle in self._timers if handle.callback is not None]
