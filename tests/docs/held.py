"""How long events before output are held: measured, for docs/replay.md. `make held` prints it.

One turn after the other, alone, through `latchway serve`. After each, the growth of
`latchway_held_seconds` is how long that turn's first events were held. The limit is left at 10 s.
"""

from __future__ import annotations

import json
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from clients import environments
from clients.gateway import Gateway
from clients.upstreams import Labs
from latchway.demo.llama import PASSAGE
from latchway.demo.stage import any_port
from servers.llama_cpp import LLAMA
from servers.process import Process
from servers.server import Server
from servers.transformers import TRANSFORMERS

PAUSES = {"0": 100, "0.2": 50, "2": 10, "12": 3}
"""Seconds from the scripted upstream's first events to its first output, and how many turns."""

TURNS = 20
"""Of each real server and each prompt."""

QUESTION = "Say in one short sentence what a bridge is."

MODEL = """\
  "{name}":
    price: free
    max_output_tokens: 1000
    routes: [{{provider: "{provider}", model: "{model}", store_default: false}}]
"""

SECONDS = 120.0
"""A long prompt on one thread takes a few."""

ROW = "| {} | {} | {:.3f} | {:.3f} | {:.3f} | {} |"


@dataclass(frozen=True, slots=True)
class Place:
    """A row's upstream: a model of the gateway's, what it is called there, how it is asked."""

    name: str
    provider: str
    model: str
    turns: int
    before: str = ""
    """What stands before the question."""


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    print("| upstream | turns | least | median | most | released by the limit |")
    print("|---|---|---|---|---|---|")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports, places = _scripted(stack)
        for server in (LLAMA, TRANSFORMERS):
            try:
                ports[server.name] = _started(server, folder, stack)
            except environments.Unavailable as why:
                print(f"{server.name} is not here: {why}", file=sys.stderr)
                continue
            places += _asked(server)
        gateway = Gateway(folder, _configuration(ports, places))
        stack.callback(gateway.stop)
        for place in places:
            print(_row(gateway, place), flush=True)


def _scripted(stack: ExitStack) -> tuple[dict[str, int], list[Place]]:
    plays: list[dict[str, Any]] = [
        {"when": {"model": pause}, "calls": [{"events": _events(float(pause))}]} for pause in PAUSES
    ]
    labs = Labs({"routes": plays}, {"routes": plays})
    stack.callback(labs.close)
    places = [
        Place(f"scripted, output {pause} s after its first event", "lab", pause, turns)
        for pause, turns in PAUSES.items()
    ]
    return {"lab": labs.ports[0]}, places


def _events(pause: float) -> list[Any]:
    wait = [{"wait": pause}] if pause else []
    return ["created", "in_progress", *wait, {"say": "Hello there."}, {"completed": {"output": 2}}]


def _started(server: Server, folder: Path, stack: ExitStack) -> int:
    python = environments.python(*server.pins)
    own = folder / server.name.replace(" ", "-")
    own.mkdir()
    server.prepare(python, own)
    port = any_port("127.0.0.1")
    process = Process(
        server.command(python, port), port, own, server.start_seconds, **server.environment
    )
    stack.callback(process.kill)
    return port


def _asked(server: Server) -> list[Place]:
    """A short prompt, and one that it needs seconds to read."""
    short = Place(f"{server.name}, a short prompt", server.name, "tiny", TURNS)
    long = PASSAGE * server.passages
    return [short, Place(f"{server.name}, a long prompt", server.name, "tiny", TURNS, long)]


def _configuration(ports: dict[str, int], places: list[Place]) -> str:
    providers = "".join(
        f'  "{name}": {{base_url: "http://127.0.0.1:{port}/v1"}}\n' for name, port in ports.items()
    )
    models = "".join(_model(place) for place in places)
    return f"listen: 127.0.0.1:0\nproviders:\n{providers}models:\n{models}"


def _model(place: Place) -> str:
    return MODEL.format(name=place.name, provider=place.provider, model=place.model)


def _row(gateway: Gateway, place: Place) -> str:
    released = _reader(gateway, "latchway_hold_released_by_timer_total")
    held = _reader(gateway, "latchway_held_seconds_sum")
    each = [_held(gateway, place, number, held) for number in range(place.turns)]
    return ROW.format(
        place.name, place.turns, min(each), median(each), max(each), round(released())
    )


def _held(gateway: Gateway, place: Place, number: int, held: Callable[[], float]) -> float:
    """The number stands first, so that no server finds the prompt in its cache."""
    request = {
        "model": place.name,
        "input": f"{number}. {place.before}{QUESTION}",
        "stream": True,
        "max_output_tokens": 8,
    }
    headers = {"authorization": f"Bearer {gateway.key('held')}", "content-type": "application/json"}
    asked = urllib.request.Request(
        f"{gateway.url}/responses", json.dumps(request).encode(), headers
    )
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            body = answer.read()
    except urllib.error.HTTPError as refused:
        body = refused.read()
    assert b"response.completed" in body, body
    return held()


def _reader(gateway: Gateway, name: str) -> Callable[[], float]:
    """What a figure has grown by since it was read the last time."""
    last = gateway.metric(name)

    def grown() -> float:
        nonlocal last
        now = gateway.metric(name)
        last, growth = now, now - last
        return growth

    return grown


if __name__ == "__main__":
    main()
