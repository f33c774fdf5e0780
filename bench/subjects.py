"""What is measured: the gateway, nothing at all, and the gateway's peers.

Each row says how a subject is started as its operator would start it, with one worker, since it has
one core; `latchway-2` shows what a second worker costs there. A configuration is a file in
`peers/`; the words between @ are filled in for each run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.processes import SOCKETS_WANTED
from bench.workloads import Unknown
from clients.environments import Unavailable, python

PEERS = Path(__file__).resolve().parent / "peers"

HTTP, WEBSOCKET = TRANSPORTS = ("http", "websocket")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a subject is started: a folder of its own, its port, its upstream's, the model."""

    folder: Path
    port: int
    second_port: int
    """For whoever has its metrics elsewhere."""
    upstream: int
    model: str


@dataclass(frozen=True, slots=True)
class Launch:
    """How it is started, and with which key it is asked."""

    command: list[str]
    key: str = "key"
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """`launch` is None where the load goes straight to the upstream. It may raise Unavailable."""

    name: str
    launch: Callable[[Place], Launch] | None
    transports: tuple[str, ...] = (HTTP,)


def configured(place: Place, name: str) -> Path:
    """The configuration of that name, filled in, in the subject's folder."""
    text = (PEERS / name).read_text(encoding="utf-8")
    words = {
        "@FOLDER@": str(place.folder),
        "@PORT@": str(place.port),
        "@UPSTREAM@": str(place.upstream),
        "@MODEL@": place.model,
    }
    for word, value in words.items():
        text = text.replace(word, value)
    file = place.folder / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file


def _latchway(place: Place, workers: int = 1) -> Launch:
    config = configured(place, "latchway.yaml")
    latchway = [sys.executable, "-m", "latchway"]
    create = ["keys", "create", "bench", "--unlimited", "--json", "--config", str(config)]
    made = subprocess.run([*latchway, *create], capture_output=True, text=True)
    if made.returncode != 0:
        reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"`latchway keys create`: {reason}")
    serve = [*latchway, "serve", "--workers", str(workers), "--config", str(config)]
    return Launch(serve, json.loads(made.stdout)["key"])


def _relay(place: Place, cut: str) -> Launch:
    """What CPython itself costs here: two connections and nothing between them (relay.py)."""
    ports = [str(place.port), str(place.upstream)]
    program = Path(__file__).with_name("relay.py")
    return Launch([sys.executable, str(program), *ports, cut])


def _nginx(place: Place) -> Launch:
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise Unavailable("nginx is not installed")
    config = configured(place, "nginx.conf")
    return Launch([program, "-e", "stderr", "-c", str(config), "-p", str(place.folder)])


def _vllm_router(place: Place) -> Launch:
    """A Rust router. It has no keys and no ledger."""
    return Launch([
        *(_installed("vllm-router"), "--host", "127.0.0.1", "--port", str(place.port)),
        *("--worker-urls", f"http://127.0.0.1:{place.upstream}", "--policy", "round_robin"),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", str(place.second_port)),
        *("--log-level", "warning", "--max-concurrent-requests", str(SOCKETS_WANTED)),
    ])  # fmt: skip


def _smg(place: Place) -> Launch:
    """A Rust gateway that knows the Responses API; without its history, which is no ledger."""
    return Launch([
        *(_installed("smg"), "launch", "--host", "127.0.0.1", "--port", str(place.port)),
        *("--worker-urls", f"http://127.0.0.1:{place.upstream}", "--backend", "openai"),
        *("--history-backend", "none", "--log-level", "warn"),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", str(place.second_port)),
        *("--max-concurrent-requests", str(SOCKETS_WANTED)),
    ])  # fmt: skip


def _litellm(place: Place) -> Launch:
    """The most used gateway written in Python."""
    config = configured(place, "litellm.yaml")
    command = [_installed("litellm"), "--config", str(config), "--host", "127.0.0.1"]
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    return Launch([*command, "--port", str(place.port)], "sk-bench", offline)


def _installed(name: str) -> str:
    """The program of that name, in an environment of its own. Raises Unavailable."""
    return str(Path(python(name, PEERS)).with_name(name))


SUBJECTS = (
    Subject("latchway", _latchway, (HTTP, WEBSOCKET)),
    Subject("direct", None, (HTTP, WEBSOCKET)),  # over HTTP always: the upstream speaks no other
    Subject("latchway-2", partial(_latchway, workers=2), (HTTP, WEBSOCKET)),
    Subject("relay", partial(_relay, cut="bytes")),
    Subject("relay-events", partial(_relay, cut="events")),
    Subject("nginx", _nginx),
    Subject("vllm-router", _vllm_router),
    Subject("smg", _smg),
    Subject("litellm", _litellm),
)


def chosen_subjects(names: list[str]) -> list[Subject]:
    """Those of these names, in the table's order. Raises Unknown."""
    known = [each.name for each in SUBJECTS]
    if strange := sorted(set(names) - set(known)):
        raise Unknown(f"no subject {', '.join(strange)}; known: {', '.join(known)}")
    return [each for each in SUBJECTS if each.name in names]


def transports(names: list[str]) -> list[str]:
    """Those of these names, in order. Raises Unknown."""
    if strange := sorted(set(names) - set(TRANSPORTS)):
        raise Unknown(f"no transport {', '.join(strange)}; known: {', '.join(TRANSPORTS)}")
    return [each for each in TRANSPORTS if each in names]
