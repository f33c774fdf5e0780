"""What is measured: the gateway, nothing at all, and the gateway's peers.

Each row says how a subject is started as its operator would start it, with one worker, since it has
one core. A configuration is a file in `peers/`; the words between @ are filled in for each run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from clients.environments import Unavailable

PEERS = Path(__file__).resolve().parent / "peers"

HTTP, WEBSOCKET = "http", "websocket"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a subject is started: a folder of its own, its port, its upstream's, the model."""

    folder: Path
    port: int
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


def _configured(place: Place, name: str) -> Path:
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


def _latchway(place: Place) -> Launch:
    config = _configured(place, "latchway.yaml")
    latchway = [sys.executable, "-m", "latchway"]
    create = ["keys", "create", "bench", "--unlimited", "--json", "--config", str(config)]
    made = subprocess.run([*latchway, *create], capture_output=True, text=True, check=True)
    return Launch([*latchway, "serve", "--config", str(config)], json.loads(made.stdout)["key"])


def _nginx(place: Place) -> Launch:
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise Unavailable("nginx is not installed")
    config = _configured(place, "nginx.conf")
    return Launch([program, "-e", "stderr", "-c", str(config), "-p", str(place.folder)])


SUBJECTS = (
    Subject("latchway", _latchway, (HTTP, WEBSOCKET)),
    Subject("direct", None, (HTTP, WEBSOCKET)),  # over HTTP always: the upstream speaks no other
    Subject("nginx", _nginx),
)
