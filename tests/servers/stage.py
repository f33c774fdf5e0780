"""A real server as an upstream of a real gateway, with taps between, and a second route behind it.

The second route's upstream is a llama.cpp server, whatever the first is. While nothing is wrong
it must not be called.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from clients import environments
from clients.gateway import Gateway
from latchway.demo.stage import any_port
from servers.asks import BARE, USUAL
from servers.llama_cpp import LLAMA
from servers.process import Process
from servers.server import Server
from servers.tap import Tap

KEY = "upstreams"
HURT, HELD, GONE = "hurt", "held", "gone"
"""Further models: with short clocks; with a short hold, too; with a first route at a dead port."""

CLOCK_SECONDS = 4.0
"""Of the clocks that run out when a server is stopped."""
HOLD_SECONDS = 1.0
WHOLE_SECONDS = 60.0
"""Of an answer that is not streamed: enough for the second server to read a long prompt."""


@dataclass(slots=True)
class Stage:
    """The running parts. `second` is the other route's server."""

    server: Server
    first: Process
    second: Process
    taps: tuple[Tap, Tap]
    gateway: Gateway
    model: str
    _turns: int = field(default=0)

    def label(self) -> str:
        """A word that no other turn has."""
        self._turns += 1
        return f"[turn-{self._turns}]"

    @property
    def prices(self) -> tuple[float, float]:
        """Of input and output, in USD per million tokens."""
        price = _said(self.server)[1]["price"]
        return price["input"], price["output"]


@contextmanager
def set_up(server: Server, folder: Path) -> Iterator[Stage]:
    """All of it, running; afterwards nothing runs. Raises Unavailable."""
    first = _started(server, folder / "first")
    try:
        second = _started(LLAMA, folder / "second")
        try:
            with _before(server, first, second, folder) as stage:
                yield stage
        finally:
            second.kill()
    finally:
        first.kill()


@contextmanager
def _before(server: Server, first: Process, second: Process, folder: Path) -> Iterator[Stage]:
    """A gateway before both."""
    taps = Tap(first.port), Tap(second.port)
    gateway = Gateway(folder, configuration(server, first.port, taps))
    try:
        yield Stage(server, first, second, taps, gateway, _said(server)[0])
    finally:
        gateway.stop()
        for tap in taps:
            tap.close()


def configuration(server: Server, port: int, taps: tuple[Tap, Tap]) -> str:
    """The snippet's one model under several names; JSON, which a `latchway.yaml` may be."""
    name, model = _said(server)
    route = {"model": name, **model["routes"][0]}
    other = {"provider": "second", "store_default": False}
    clocks = {"first_event_timeout_seconds": CLOCK_SECONDS, "idle_timeout_seconds": CLOCK_SECONDS}
    routes = {
        USUAL: {**route, "provider": "first"},
        BARE: {**route, "provider": "first", "drop_fields": []},
        HURT: {**route, "provider": "first", **clocks},
        HELD: {**route, "provider": "first", **clocks, "hold_seconds": HOLD_SECONDS},
        GONE: {**route, "provider": "gone"},
    }
    turn = _snippet(server).get("turn", {})
    ports = {"first": taps[0].port, "second": taps[1].port, "gone": port}
    return json.dumps(
        {
            "providers": {k: {"base_url": f"http://127.0.0.1:{v}/v1"} for k, v in ports.items()},
            "models": {k: {**model, "routes": [v, other]} for k, v in routes.items()},
            "turn": {**turn, "whole_answer_timeout_seconds": WHOLE_SECONDS},
            "health": {"enabled": False},
        }
    )


def _started(server: Server, folder: Path) -> Process:
    """In a folder of its own, with what the server needs there."""
    python = environments.python(*server.pins)
    folder.mkdir()
    server.prepare(python, folder)
    port = any_port("127.0.0.1")
    command = server.command(python, port)
    return Process(command, port, folder, server.start_seconds, **server.environment)


def _said(server: Server) -> tuple[str, dict[str, Any]]:
    """The one model of the snippet, and its fields."""
    ((name, model),) = _snippet(server)["models"].items()
    return name, model


def _snippet(server: Server) -> dict[str, Any]:
    said: dict[str, Any] = YAML(typ="safe").load(io.StringIO(server.snippet))
    return said
