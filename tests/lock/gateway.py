"""A whole gateway for one script: all of it real but the clock, the wires and the disk.

Its settings are what the script's head says; its routes lead to upstreams in memory.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.clock import VirtualClock
from harness.ledger import InlineLedger, InlineReader
from latchway.books import Ports
from latchway.serve.app import App
from latchway.settings import (
    BillingSettings,
    HealthSettings,
    LimitSettings,
    Model,
    Provider,
    ReplaySettings,
    Route,
    Settings,
    TurnSettings,
)
from lock.asked import AskedUpstreams
from lock.loop import VirtualLoop
from lock.money import MAX_OUTPUT_TOKENS, PRICE, REQUEST_BYTES
from lock.script import CLOCKS, Scenario
from lock.seen import SeenLedger, SeenLog, SeenMetrics, SeenRoutes
from lock.upstream import Upstreams

EVENT_BYTES = 100_000
"""`limits.event_bytes` of every script: large beside its events, and soon passed."""

USUAL_CLOCKS = {
    "hold_seconds": 10.0,
    "connect_timeout_seconds": 10.0,
    "first_event_timeout_seconds": 60.0,
    "idle_timeout_seconds": 300.0,
}
"""Of a route that says nothing of them."""

FAILURES = 5
"""In a row, by which a route is set aside, where a script has such a one."""

NEVER_SECONDS = 10.0**9
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Never used: upstreams in memory speak in the clear."""


class Numbered(App):
    """Request ids that are the same on every run. `turn_number`: of the turn that begins next."""

    turn_number = 0

    def new_id(self) -> str:
        return f"req_{self.turn_number:024d}"


class Gateway:
    """`say` is told every line of the recording but the client's own.

    `secret`: of a key that can pay; `poor`: of one that cannot.
    """

    def __init__(self, scenario: Scenario, say: Callable[[str], None]) -> None:
        self.clock = VirtualClock(0.0)
        self.network = Upstreams(self.clock)
        self.loop = VirtualLoop(self.clock, self.network)  # type: ignore[abstract]
        self.book = InlineLedger(self.clock)
        self.ledger = SeenLedger(say, self.book)
        self.secret, self.poor = self.book.add_key(), self.book.add_key("poor", credit=1)
        settings = settings_of(scenario)
        metrics = SeenMetrics(["m"], [route.name for route in settings.models["m"].routes])
        self.routes = SeenRoutes(say, settings, self.clock.time, scenario.head["made"])
        self._set_aside(scenario)
        self.upstreams = AskedUpstreams(say, settings, PLAIN, self.network.asked)
        ports = Ports(
            settings=settings,
            clock=self.clock,
            wall=self.clock.time,
            routes=self.routes,
            upstreams=self.upstreams,
            ledger=self.ledger,
            log=SeenLog(say, metrics, self.book),
            metrics=metrics,
            served_by="host/1",
        )
        self.app = Numbered(ports, self.book.keys, InlineReader(self.book))

    def _set_aside(self, scenario: Scenario) -> None:
        """Routes that failed before the turn."""
        for name, *marks in (each.split(":") for each in scenario.head["routes"].split()):
            for _ in range(FAILURES if "aside" in marks else 0):
                self.routes.attempt_ended(name, "R2.2", self.clock.time())


def settings_of(scenario: Scenario) -> Settings:
    """What the head says, and of the rest whatever keeps out of a turn's way."""
    said = dict(each.split("=") for each in scenario.head["settings"].split())
    model = Model(
        name="m",
        price=PRICE,
        free=False,
        context_tokens=REQUEST_BYTES,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        routes=tuple(map(_route, scenario.head["routes"].split())),
    )
    turn = TurnSettings(
        keepalive_seconds=float(said.get("keepalive_seconds", 15)),
        pre_output_buffer_bytes=int(said.get("pre_output_buffer_bytes", 8 << 20)),
        replay_acting_tools=scenario.head["tools"] != "acting",
    )
    return Settings(
        models={"m": model},
        providers={},
        database=Path("none"),
        turn=turn,
        replay=ReplaySettings() if scenario.head["room"] == "yes" else ReplaySettings(0.0, 0),
        health=HealthSettings(":aside" in scenario.head["routes"], FAILURES, NEVER_SECONDS),
        billing=BillingSettings(
            upstream_broke=said.get("upstream_broke", "free"),
            client_left=said.get("client_left", "estimate"),
            free_aborts_per_minute=10**9,
        ),
        limits=LimitSettings(event_bytes=EVENT_BYTES, write_stall_seconds=NEVER_SECONDS),
    )


def _route(said: str) -> Route:
    """A route of the head: its name is its upstream's, too."""
    name, *marks = said.split(":")
    values: dict[str, Any] = {mark.partition("=")[0]: mark.partition("=")[2] for mark in marks}
    clocks = {setting: float(values[mark]) for mark, setting in CLOCKS.items() if mark in values}
    return Route(
        name=name,
        provider=Provider(name, f"http://{name}/v1", None),
        upstream_model="m",
        enabled="disabled" not in values,
        store_default="stores" in values,
        origin=values.get("origin"),
        drop_fields=(values["drops"],) if "drops" in values else (),
        cost=None,
        **{**USUAL_CLOCKS, **clocks},
    )
