"""One world: a gateway with all its parts, its clients and upstreams, its disk, and its fate.

Everything random in it comes from its seed, so a seed is the whole story.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from latchway.books import Asked as AskedTurn
from latchway.books import Ports
from latchway.drive import Driver
from latchway.ledger import keys, recovery, writer
from latchway.ledger.keys import NewKey
from latchway.ledger.sqlite import Book
from latchway.ledger.writer import Writer
from latchway.log.metrics import Metrics
from latchway.ports import Client as TurnClient
from latchway.serve.app import App
from latchway.serve.http import HttpConnection
from latchway.turn import events as on
from latchway.upstreams import connection
from latchway.upstreams.limits import Limits
from sim import checks, fates, people
from sim.cases import Case
from sim.clients import Client
from sim.coverage import Counted
from sim.disk import Disk, NoLock, Steps, reader
from sim.network import Kernel
from sim.universe import Process, Universe, Violation
from sim.upstream import MARKER, Call, Recorder, watch_dials

KEEP_MS = 30 * 86_400_000
WALL = 1_796_000_000.0


class Complaints(logging.Handler):
    """Faults of its own that the gateway logged: each is a violation. A disk's are not its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        of_the_disk = record.name == "latchway.ledger.committer" and not record.exc_info
        if not of_the_disk:
            self.said.append(record)


class SimApp(App):
    """The app, watched: which turn is whose, and what each is told."""

    def __init__(self, world: World, ports: Ports) -> None:
        nobody: Any = None
        super().__init__(ports, world.writer.keys, nobody)
        self._world = world
        self._ids = 0
        ordered: list[Any] = [Ordered(), Ordered(), Ordered()]
        self.connections, self.sockets, self.turns = ordered

    def new_id(self) -> str:
        self._ids += 1
        return f"req_{self._world.epoch}_{self._ids}"

    def turn(self, asked: AskedTurn, client: TurnClient, ended: Callable[[], None]) -> Driver:
        driver = super().turn(asked, client, ended)
        found = MARKER.search(asked.request.body)
        assert found is not None
        self._world.begins(self._world.cases[int(found[1])], asked.request_id, driver)
        return driver


class Ordered(dict[Any, None]):
    """A set that is gone through in one order, so that a seed is one story."""

    def add(self, item: Any) -> None:
        self[item] = None

    def discard(self, item: Any) -> None:
        self.pop(item, None)


class WatchedLog:
    """`ports.Log`: a turn is over when its record is written."""

    def __init__(self, world: World, inner: Writer) -> None:
        self._world, self._inner = world, inner

    def record(self, record: dict[str, Any]) -> None:
        self._inner.record(record)
        self._world.recorded(record)


class World:
    """See the module. `run` lives it to its end; it raises Violation."""

    def __init__(self, seed: int, *, traced: bool = False) -> None:
        self.universe = Universe(seed, traced=traced)
        self.seed = seed
        self.random = self.universe.random
        self.settings = people.settings(self.random)
        self.routes = {route.name: route for route in self.settings.models["m"].routes}
        self.kernel = Kernel()
        self.disk = Disk(self.universe)
        self.counted = Counted()
        self.epoch = 0
        self.cases: list[Case] = []
        self.calls: list[Call] = []
        self.clients: list[Client] = []
        self.by_request: dict[str, Case] = {}
        self.made: dict[str, list[tuple[str, str]]] = {key: [] for key in people.KEYS}
        """Results that were delivered to a key: their ids, and the routes that made them."""
        self.active = self.replaying = 0
        self.wall_off = self.stalled_seconds = 0.0
        self.draining = self.ending = self.ended = False
        """The gateway drains; the world is near its end; the last process has ended."""
        self.left_epoch = 0
        self.complaints = Complaints()
        self.universe.killed = lambda: fates.crash(self)

    # ---- the process

    def start(self) -> None:
        """A gateway on this world's database, as `latchway serve` starts it."""
        self.epoch += 1
        self.process = Process(self.universe, watch_dials(self))
        self.universe.process = self.process
        asyncio._set_running_loop(self.process)  # type: ignore[arg-type]
        book = Book(self.disk.connection, lambda: round(self.wall() * 1000))
        with book.transaction():
            book.begin_epoch(f"host/{self.epoch}")
        if self.epoch == 1:
            self._make_keys(book)
        else:
            recovery.recover(book, KEEP_MS)
        lock: Any = NoLock()
        loop: Any = self.process
        self.writer = Writer(Path("sim.db"), lock, book, loop, KEEP_MS)
        self.active = self.replaying = 0
        self.draining = False
        self._assemble()

    def _assemble(self) -> None:
        upstreams = Recorder(self, Limits(write_bytes=people.WRITE_BYTES), people.NO_TLS)
        self.pool = upstreams.pool
        ports = Ports(
            settings=self.settings,
            clock=self.process,
            wall=self.wall,
            routes=checks.WatchedRoutes(self),
            upstreams=upstreams,
            ledger=self.writer,
            log=WatchedLog(self, self.writer),
            metrics=Metrics(self.settings.models, self.routes),
            served_by=f"host/{self.epoch}",
        )
        self.app = SimApp(self, ports)

    def wall(self) -> float:
        return WALL + self.universe.now + self.wall_off

    def _make_keys(self, book: Book) -> None:
        with book.transaction():
            for name, credit in people.KEYS.items():
                secret = self.secret(name)
                new = NewKey(name, name, secret[3:19], keys.digest(secret), credit)
                keys.create(book, new)

    def secret(self, name: str) -> str:
        public = hashlib.sha256(name.encode()).hexdigest()
        return f"lw_{public[:16]}_{public}"

    # ---- what clients need

    def secret_of(self, case: Case) -> str:
        return self.secret(case.asked.key)

    def body_of(self, case: Case) -> bytes:
        return people.body(case)

    def connect(self, client: Client) -> None:
        """The gateway accepts a connection."""
        self.clients.append(client)
        client.wire.set_protocol(HttpConnection(self.app))
        self.process.call_soon(client.wire.begin)

    def asked(self, case: Case) -> None:
        self.universe.note("turn %d asked: %s", case.number, case.asked)

    def excuses_close(self, client: Client) -> bool:
        """May the gateway have closed on this client?"""
        return client.wire.window is not None or self.draining

    # ---- what turns do

    def begins(self, case: Case, request_id: str, driver: Driver) -> None:
        """A turn begins: its case hears whatever it is told."""
        case.request_id, case.driver = request_id, driver
        case.began_turn = self.universe.now
        self.by_request[request_id] = case
        tell, turn = driver.tell, driver.turn

        def told(event: on.Event) -> None:
            before = turn.state
            checks.before_event(case, event)
            tell(event)
            if driver._busy:
                return
            checks.after_event(case, event)
            if turn.state is not before:
                fates.reached(self, case, turn.state.value)

        driver.tell = told  # type: ignore[method-assign]

    def recorded(self, record: dict[str, Any]) -> None:
        """A turn is over."""
        case = self.by_request.get(record["request_id"])
        if case is not None:
            checks.at_the_end(case, record)

    def is_reserved(self, case: Case) -> bool:
        return self._state(case)[0] == "open"

    def is_settled(self, case: Case, call: Call) -> bool:
        """Is the turn charged for this very attempt, and is that durable?"""
        state, billed = self._state(case)
        return state == "settled" and billed == call.number

    def _state(self, case: Case) -> tuple[str | None, int | None]:
        row = self.disk.connection.execute(
            "SELECT state, billed FROM turn WHERE request_id = ?", (case.request_id,)
        ).fetchone()
        return row or (None, None)

    def replay_room(self) -> bool:
        replay = self.settings.replay
        return self.replaying < max(replay.min, replay.max_share * self.active)

    # ---- from beginning to end

    def run(self) -> None:
        with self._seams():
            self.start()
            people.invite(self)
            fates.plan(self)
            self.universe.run()
            checks.at_rest(self)

    @contextmanager
    def _seams(self) -> Iterator[None]:
        """What of Python's runtime and of the kernel is virtual in this world, and nowhere else."""
        logger = logging.getLogger("latchway")
        os, select = self.kernel.modules()
        with (
            patch.object(connection, "os", os),
            patch.object(connection, "select", select),
            patch.object(Steps, "disk", self.disk),
            patch.object(writer, "Committer", Steps),
            patch.object(writer, "open_reader", reader(self.disk)),
            patch.object(logger, "propagate", False),
            patch.object(logger, "handlers", [self.complaints]),
        ):
            try:
                yield
            finally:
                asyncio._set_running_loop(None)

    def complain(self) -> None:
        """What the gateway itself calls a fault is one."""
        for record in self.complaints.said:
            fault = record.exc_info[1] if record.exc_info else None
            if isinstance(fault, Violation):
                raise fault
            raise Violation(f"the gateway logged: {record.getMessage()}") from fault
