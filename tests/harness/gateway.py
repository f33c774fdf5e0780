"""A whole gateway in memory: real connections, driver, turn, routes and ledger; virtual time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.clock import VirtualClock
from harness.http import Answer, HttpPeer
from harness.ledger import InlineLedger, InlineReader
from harness.upstreams import ScriptedCall, ScriptedUpstreams, completed, created, text
from harness.websocket import SocketPeer
from latchway.books import Ports
from latchway.log.metrics import Metrics
from latchway.routes.table import RouteTable
from latchway.serve.app import App
from latchway.settings import Model, Price, Provider, Route, Settings

WALL = 1_796_000_000.0
PRICE = Price(input=2_000_000_000, output=4_000_000_000, reasoning=4_000_000_000)
"""2 and 4 USD per million tokens: 10 in and 5 out cost 40,000 nano-USD."""
COST = 40_000


def route(name: str, **said: Any) -> Route:
    """A route that stores nothing."""
    values: dict[str, Any] = {
        "upstream_model": "m",
        "enabled": True,
        "store_default": False,
        "origin": None,
        "drop_fields": (),
        "cost": None,
        "hold_seconds": 10.0,
        "connect_timeout_seconds": 10.0,
        "first_event_timeout_seconds": 60.0,
        "idle_timeout_seconds": 300.0,
    }
    return Route(name=name, provider=Provider("p", "http://127.0.0.1:1", None), **values | said)


def settings(*routes: Route, **differs: Any) -> Settings:
    """One model, `m`, on the given routes (a and b, if none is given)."""
    model = Model(
        name="m",
        price=PRICE,
        free=False,
        context_tokens=1000,
        max_output_tokens=100,
        routes=routes or (route("a"), route("b")),
    )
    given: dict[str, Any] = {"models": {"m": model}, "providers": {}, "database": Path("none")}
    return Settings(**given | differs)


def body(**fields: Any) -> bytes:
    """A request for a streamed answer, unless the fields say otherwise."""
    return json.dumps({"model": "m", "input": "hi", "stream": True} | fields).encode()


class Gateway:
    """`secret` opens the key `alice`, which has 1,000 USD."""

    def __init__(self, settings_: Settings | None = None, **differs: Any) -> None:
        self.settings = replace(settings_ or settings(), **differs)
        self.clock = VirtualClock()
        self.ledger = InlineLedger(self.clock)
        self.upstreams = ScriptedUpstreams()
        began = self.clock.time()
        names = [each.name for model in self.settings.models.values() for each in model.routes]
        ports = Ports(
            settings=self.settings,
            clock=self.clock,
            wall=lambda: WALL + self.clock.time() - began,
            routes=RouteTable(self.settings, self.ledger, self.clock.time),
            upstreams=self.upstreams,
            ledger=self.ledger,
            log=self.ledger,
            metrics=Metrics(self.settings.models, names),
            served_by="host/1",
        )
        self.app = App(ports, self.ledger.keys, InlineReader(self.ledger))
        self.secret = self.ledger.add_key()

    def connect(self, *, slow: bool = False) -> HttpPeer:
        peer = HttpPeer(self.app, self.clock, self.secret)
        peer.transport.slow = slow
        return peer

    def ask(self, **fields: Any) -> HttpPeer:
        """A client that has posted a turn, whose first attempt, if there is one, is open."""
        peer = self.connect()
        peer.post(body(**fields))
        self.clock.advance()
        return peer

    def finish(self, id: str = "resp_1") -> None:
        """The upstream's whole answer to the newest call."""
        self.call.heads()
        self.call.sends(created(id), text(), completed(id))
        self.clock.advance()

    def socket(self, **headers: str) -> SocketPeer:
        """A client whose handshake was accepted."""
        peer = self.connect()
        return SocketPeer.upgraded(peer, self.clock, headers)

    def page(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str | None
    ) -> Answer:
        """One answer, also of a page that is made beside the loop: then there is one for it."""

        async def ask() -> Answer:
            peer = self.connect()
            peer.request(method, path, body, **headers)
            while others := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.gather(*others, return_exceptions=True)
            return peer.answer

        return asyncio.run(ask())

    @property
    def call(self) -> ScriptedCall:
        """The attempt that was opened last."""
        return self.upstreams.calls[-1]

    @property
    def record(self) -> dict[str, Any]:
        """The log's newest record."""
        return self.ledger.records[-1]
