"""A whole gateway without a network, a disk or a clock of its own: one client's WebSocket to it.

Routes, driver, turn and connection are the real ones. Time passes when it is told to; the ledger
and the upstreams answer later, by that clock, as the real ones do; what upstreams say is chance.
"""

from __future__ import annotations

import asyncio
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, cast

from fuzz.dice import Dice
from fuzz.scripts import Step, script
from latchway.books import Ports
from latchway.ledger.keys import KeyRow, Keys
from latchway.log.metrics import Metrics
from latchway.ports import Call, Closing, Granted, Key, Opening, Question, Refused, Unavailable
from latchway.routes.table import RouteTable
from latchway.serve.app import App
from latchway.serve.incoming import Incoming
from latchway.serve.websocket import SocketConnection
from latchway.settings import LimitSettings, Price, Route, Settings, WebsocketSettings
from latchway.turn.events import Place, UpstreamEvent
from latchway.wire.frame import Answer
from latchway.wire.marks import mark
from latchway.wire.request import Request
from routes.made import model, route

MADE = {mark("resp_a"): "a", mark("resp_gone"): "gone"}
KEY = Key("k", "o")
ROW = KeyRow(KEY, "0" * 16, b"")
MAX_MESSAGE_BYTES = 4000
REQUEST_BYTES = 2000
QUEUE = 2
NANO = 1_000_000_000
"""nano-USD in a USD."""

CLOCKS = {"hold_seconds": 1.0, "first_event_timeout_seconds": 4.0, "idle_timeout_seconds": 6.0}
ROUTES = (route("a", **CLOCKS), route("b", store_default=True, **CLOCKS))
PRICE = Price(2 * NANO, NANO, 2 * NANO, 8 * NANO, 8 * NANO)

SETTINGS = Settings(
    models={"m": model("m", *ROUTES, price=PRICE)},
    providers={},
    database=Path("none"),
    websocket=WebsocketSettings(
        grace_minutes=0.2, queue=QUEUE, max_message_bytes=MAX_MESSAGE_BYTES
    ),
    limits=LimitSettings(request_bytes=REQUEST_BYTES, write_stall_seconds=8.0),
)


RESERVED: Sequence[Granted | Refused | Unavailable] = (
    *[Granted()] * 18, Refused(2, 1), Unavailable("disk"),
)  # fmt: skip
CLOSED: Sequence[Granted | Unavailable] = (*[Granted()] * 19, Unavailable("disk"))
"""What the ledger answers, each as likely as it is often here."""


class Clock:
    """ports.Clock, whose time is what `advance` makes it."""

    def __init__(self) -> None:
        self.now = 0.0
        self._numbers = count()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._cancelled: set[int] = set()

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], object], /) -> _Timer:
        number = next(self._numbers)
        heapq.heappush(self._due, (when, number, callback))
        return _Timer(self._cancelled, number)

    def advance(self, seconds: float) -> None:
        """Let time pass; what becomes due meanwhile is called in its order."""
        until = self.now + seconds
        while self._due and self._due[0][0] <= until:
            when, number, callback = heapq.heappop(self._due)
            self.now = max(self.now, when)
            if number not in self._cancelled:
                callback()
        self.now = until

    @property
    def waiting(self) -> list[Callable[[], object]]:
        """What is still to be called."""
        return [callback for _, number, callback in self._due if number not in self._cancelled]


@dataclass(frozen=True, slots=True)
class _Timer:
    cancelled: set[int]
    number: int

    def cancel(self) -> None:
        self.cancelled.add(self.number)


class Ledger:
    """ports.Ledger, which mostly grants, a moment later."""

    def __init__(self, clock: Clock, dice: Dice) -> None:
        self._clock, self._dice = clock, dice
        self.reserved: dict[str, int] = {}
        """The amount by the turn's id."""
        self.closed: Counter[str] = Counter()
        """How often a turn was closed and that was granted."""

    def reserve(
        self, opening: Opening, done: Callable[[Granted | Refused | Unavailable], None]
    ) -> None:
        answer = self._dice.pick(RESERVED)
        if isinstance(answer, Granted):
            assert opening.request_id not in self.reserved
            self.reserved[opening.request_id] = opening.amount
        self._soon(lambda: done(answer))

    def record_replay(
        self, request_id: str, route: str, done: Callable[[Granted | Unavailable], None]
    ) -> None:
        self._soon(lambda: done(Granted()))

    def close(self, closing: Closing, done: Callable[[Granted | Unavailable], None]) -> None:
        assert 0 <= closing.charge <= self.reserved[closing.request_id]
        assert closing.loss >= 0
        answer = self._dice.pick(CLOSED)
        self.closed[closing.request_id] += isinstance(answer, Granted)
        self._soon(lambda: done(answer))

    def remember(
        self,
        owner: str,
        route: str,
        marks: Sequence[bytes],
        done: Callable[[Granted | Unavailable], None],
    ) -> None:
        self._soon(lambda: done(Granted()))

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        return next((MADE[each] for each in marks if each in MADE), None)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return mark("resp_of_another") in marks

    def _soon(self, then: Callable[[], None]) -> None:
        self._clock.call_at(self._clock.time() + 0.001, then)


class Upstreams:
    """ports.Upstreams. What an attempt says depends on the seed and the attempt's number alone."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock, self._seed = clock, seed
        self.calls: list[_Call] = []

    def open(
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> Call:
        number = len(self.calls)
        steps = script(Dice(self._seed + number), attempt, f"resp_{number}")
        self.calls.append(_Call(self._clock, steps, tell))
        return self.calls[-1]

    def ask(
        self,
        route: Route,
        method: str,
        path: str,
        body: bytes,
        told: Callable[[Answer | str], None],
    ) -> Question:
        """Questions come over HTTP alone."""
        raise NotImplementedError


class _Call:
    """One attempt; it says its next step when the time has come."""

    def __init__(
        self, clock: Clock, steps: Iterator[Step], tell: Callable[[UpstreamEvent], None]
    ) -> None:
        self._clock, self._steps, self._tell = clock, steps, tell
        self.over = False
        self._wait(next(self._steps))

    def _wait(self, step: Step) -> None:
        self._clock.call_at(self._clock.time() + step.after, lambda: self._say(step))

    def _say(self, step: Step) -> None:
        following = next(self._steps, None)
        if self.over:
            return
        if following is not None:
            self._wait(following)
        self._tell(step.event)

    def drop(self) -> None:
        self.over = True

    def release(self) -> None:
        self.over = True

    def pause(self) -> None:
        """What is on its way comes all the same."""

    def resume(self) -> None:
        """Nothing was kept back."""


class Log:
    """ports.Log: that each record can be written as JSON is checked at once."""

    def __init__(self) -> None:
        self.ids: Counter[str] = Counter()

    def record(self, record: dict[str, Any]) -> None:
        json.dumps(record, allow_nan=False)
        self.ids[record["request_id"]] += 1


class Transport(asyncio.Transport):
    """The client's side of the connection: what it got, and whether a turn was active then."""

    def __init__(self, clock: Clock, active: Callable[[], bool]) -> None:
        super().__init__()
        self._clock, self._active = clock, active
        self._protocol: asyncio.BaseProtocol | None = None
        self.written: list[tuple[bytes, bool]] = []
        self.closing = self.unread = self.ended = False
        self.unsent = 0

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        assert not self.ended, "written behind the end"
        self.written.append((bytes(data), self._active()))

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def pause_reading(self) -> None:
        self.unread = True

    def resume_reading(self) -> None:
        self.unread = False

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        if not self.closing and self._protocol is not None:
            lost = self._protocol.connection_lost
            self._clock.call_at(self._clock.time(), lambda: lost(None))
        self.closing = True

    def abort(self) -> None:
        self.close()


@cache
def _metrics() -> Metrics:
    return Metrics(["m"], ["a", "b"])


class Gateway:
    """One process with one client's connection. `seed`: of all that is left to chance; `minutes`:
    the age at which the connection closes."""

    def __init__(self, seed: int, minutes: float) -> None:
        self.clock = Clock()
        self.ledger = Ledger(self.clock, Dice(seed))
        self.upstreams = Upstreams(self.clock, seed)
        self.log = Log()
        settings = replace(SETTINGS, websocket=replace(SETTINGS.websocket, max_minutes=minutes))
        routes = RouteTable(settings, self.ledger, self.clock.time, self.clock.time)
        ports = Ports(
            settings, self.clock, self.clock.time, routes, self.upstreams, self.ledger, self.log,
            _metrics(), "host/1",
        )  # fmt: skip
        self.keys = Keys()
        self.keys.put(ROW)
        self.app = App(ports, self.keys, cast(Any, None))
        self.transport = Transport(self.clock, lambda: bool(self.app.turns))
        incoming = Incoming(REQUEST_BYTES, key=KEY)
        self.connection = SocketConnection(self.app, incoming, cast(Any, self.transport))
        self.connection.start(b"")

    def read(self, data: bytes) -> None:
        """Bytes of the client; as in asyncio, none come once the connection is closing."""
        if not self.transport.closing:
            self.connection.data_received(data)

    def leave(self) -> None:
        """The client goes, and all that was under way ends."""
        if not self.transport.closing:
            self.connection.eof_received()
        self.transport.close()
        self.clock.advance(60.0)
