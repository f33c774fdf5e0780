"""Codex with a real model: llama.cpp as the only route, and as the one that stands in.

The model is small, so that what it says is of no interest, nor whether it calls a tool; that its
turns come to their end, are charged by its own usage and need no second request is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agents.codex import NO_RETRIES, codex
from agents.job import PROGRAMS, Job, Told
from agents.origin import Behaviour, Origin
from agents.playing import Record
from agents.stage import BUSY, NAMES, NO_SCRIPT
from clients.checking import verdicts
from clients.gateway import Gateway
from clients.leaving import wait_until
from clients.models import NANO_PER_TOKEN, START_SECONDS, is_up, start_server
from clients.upstreams import Labs
from latchway.demo.stage import any_port

MODEL = "smollm2"
QUESTIONS = ("Say hello.", "Say it again.")
ANSWER_TOKENS = 2048
FIRST_EVENT_SECONDS = 300
"""It says nothing before it has read the prompt: half a minute on an idle core."""

SCENES: dict[str, tuple[str, ...]] = {
    "llama.cpp, no other": ("second",),
    "503, llama.cpp": NAMES,
}
"""The routes, by what is tried."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One session of Codex. `records`: of its requests, in their order."""

    name: str
    told: Told
    records: tuple[Record, ...]

    @property
    def differences(self) -> Iterator[str]:
        """What is not as it should be: every turn completed and paid, and none asked for twice."""
        routes = SCENES[self.name]
        said = ("R2.1 replay",) if len(routes) > 1 else ()
        if self.told.raised:
            yield f"{self.name}: {self.told.raised}"
        if len(self.records) != len(QUESTIONS) + self.told.tools:
            yield f"{self.name}: {len(self.records)} requests, {self.told.tools} commands"
        for record in self.records:
            was = record["outcome"], routes_of(record), verdicts(record), _due(record)
            wanted = "completed", routes, said, record["billing"]["charged"]
            if was != wanted:
                yield f"{self.name}: {was}, not {wanted}"


def play_scene(folder: Path, name: str) -> Scene:
    """Raises Unavailable."""
    with _playing(folder, SCENES[name]) as gateway:
        home = folder / "codex"
        home.mkdir()
        job = Job(gateway.url, gateway.key("reader"), MODEL, "sealed", {}, QUESTIONS)
        told = codex(NO_RETRIES)(job, home)
        assert gateway.stop() == 0, "".join(gateway.said)
        gateway.verify()
        return Scene(name, told, tuple(gateway.records()))


def routes_of(record: Record) -> tuple[str, ...]:
    return tuple(attempt["route"] for attempt in record["attempts"])


def _due(record: Record) -> str:
    """The charge that follows from the usage that the last attempt told."""
    usage = record["attempts"][-1]["usage"]
    return f"{sum(usage[name] * price for name, price in NANO_PER_TOKEN.items()) / 1e9:.9f}"


@contextmanager
def _playing(folder: Path, routes: tuple[str, ...]) -> Iterator[Gateway]:
    """A server with room for Codex, an origin that always fails, and a gateway."""
    port = any_port("127.0.0.1")
    server = start_server(port, str(PROGRAMS / "llama_wide.py"))
    failing = Origin("", {}, {MODEL: Behaviour(BUSY)}, set())
    labs = Labs(NO_SCRIPT, NO_SCRIPT, (failing, Origin("", {}, {}, set())))
    gateway = None
    try:
        wait_until(partial(is_up, port), START_SECONDS)
        gateway = Gateway(folder, _configuration(routes, labs.ports[0], port))
        yield gateway
    finally:
        if gateway is not None:
            gateway.stop()
        labs.close()
        server.kill()
        server.communicate()


def _configuration(routes: tuple[str, ...], *ports: int) -> str:
    places = dict(zip(NAMES, ports, strict=True))
    model = {
        "price": {"input": 1, "output": 4},
        "context_tokens": 8192,
        "max_output_tokens": ANSWER_TOKENS,
        "routes": [{"provider": name, "name": name, "store_default": False} for name in routes],
    }
    return json.dumps(
        {
            "providers": {
                name: {"base_url": f"http://127.0.0.1:{places[name]}/v1"} for name in routes
            },
            "models": {MODEL: model},
            "turn": {"first_event_timeout_seconds": FIRST_EVENT_SECONDS},
            "health": {"enabled": False},
        }
    )
