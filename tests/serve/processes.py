"""A gateway in a process of its own, in front of a lab that answers each model in its own way."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import SECONDS, configured
from lab.harness import Running, running
from latchway.ledger import verify
from latchway.ledger.control import Store
from latchway.ledger.database import open_reader
from latchway.ledger.prices import NANO_PER_USD
from latchway.ledger.writer import Writer

MODELS = {
    "good": [{"events": ["created", {"text": "Hello"}, {"completed": {"input": 10, "output": 5}}]}],
    "again": [{"events": ["created", {"failed": "server_is_overloaded"}]}],
    "final": [{"events": ["created", {"failed": "invalid_prompt"}]}],
    "silent": [{"events": ["created", {"text": "Hello"}, "silence"]}],
    "large": [{"events": [{"text": "x" * (8 << 20)}, {"completed": {"input": 10, "output": 5}}]}],
}
"""What the first route's upstream does; the second's is always good."""

DATABASE = "latchway.db"

CONFIGURATION = """\
listen: 127.0.0.1:0
database: sqlite:///latchway.db
shutdown_seconds: {shutdown_seconds}
{more}
providers: {{here: {{base_url: "http://127.0.0.1:{port}/v1"}}}}
models:
"""
MODEL = """\
  {name}:
    price: {{input: 2.00, output: 4.00}}
    context_tokens: 1000
    max_output_tokens: 100
    routes:
      - {{provider: here, store_default: false}}
      - {{provider: here, store_default: false, model: good, name: spare}}
"""


@contextmanager
def upstream() -> Iterator[Running]:
    routes = [{"when": {"model": name}, "calls": calls} for name, calls in MODELS.items()]
    with running({"routes": routes}) as lab:
        yield lab


def configure(folder: Path, lab: Running, shutdown_seconds: float = 30, more: str = "") -> str:
    """Write the configuration and make a key; returns its secret."""
    text = CONFIGURATION.format(shutdown_seconds=shutdown_seconds, more=more, port=lab.port)
    text += "".join(MODEL.format(name=name) for name in MODELS)
    configured(folder, text)
    with Store.open(folder / DATABASE) as store:
        return store.create("alice", credit=5 * NANO_PER_USD)


@dataclass
class Gateway:
    """`process` writes its log to `errors`."""

    process: subprocess.Popen[str]
    port: int
    secret: str

    def ask(self, model: str) -> http.client.HTTPConnection:
        """A streamed turn that has been sent, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        body = json.dumps({"model": model, "input": "hi", "stream": True})
        connection.request("POST", "/v1/responses", body, self.headers)
        return connection

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}

    def ready(self) -> bool:
        """Does it still begin turns?"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request("GET", "/health/ready")
        status = connection.getresponse().status
        connection.close()
        return status == 200

    def leaves(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(SECONDS)


@contextmanager
def serving(folder: Path, secret: str, failpoint: str = "", workers: int = 1) -> Iterator[Gateway]:
    """A gateway that listens. It is ended with the block, if it has not ended by then."""
    command = [sys.executable, "-m", "latchway", "serve", "--test", "--workers", str(workers)]
    environment = {**os.environ, "LATCHWAY_FAILPOINT": failpoint}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Gateway(process, _port(process), secret)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SECONDS)


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "listening on" in line:
            return int(line.rpartition(":")[2])
    raise AssertionError(f"the gateway did not start: {said}")


def turns(folder: Path) -> list[tuple[str, int, int]]:
    """State, charge and loss of every turn, from the database as it lies there."""
    connection = open_reader(folder / DATABASE)
    try:
        return connection.execute("SELECT state, charged, loss FROM turn ORDER BY turn").fetchall()
    finally:
        connection.close()


def records(folder: Path) -> list[dict[str, Any]]:
    connection = open_reader(folder / DATABASE)
    try:
        rows = connection.execute("SELECT record FROM log ORDER BY rowid").fetchall()
    finally:
        connection.close()
    return [json.loads(row) for (row,) in rows]


def faults(folder: Path) -> list[str]:
    """What `latchway ledger verify` would say."""
    connection = open_reader(folder / DATABASE)
    try:
        return [str(fault) for fault in verify.verify(connection)]
    finally:
        connection.close()


def recover(folder: Path) -> None:
    """What the next start of a gateway does first."""
    loop = asyncio.new_event_loop()
    try:
        Writer.open(folder / DATABASE, loop, served_by="host/next").stop()
    finally:
        loop.close()
