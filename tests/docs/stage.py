"""Where the pages' snippets are run: `latchway serve` with two routes, the lab behind both.

It has the model of the README, served well, and one more for each script that ships with the lab:
there the first route's upstream plays that script, and the second serves well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from clients.gateway import Gateway
from clients.upstreams import Labs
from latchway.lab.checked import shipped

MODEL = "gpt-5.6-terra"
"""The one that the pages name."""

CONFIGURATION = """\
listen: 127.0.0.1:0
database: sqlite:///latchway.db
providers:
  primary: {{base_url: "http://127.0.0.1:{first}/v1"}}
  backup: {{base_url: "http://127.0.0.1:{second}/v1"}}
turn: {{first_event_timeout_seconds: 1, idle_timeout_seconds: 1}}
models:
"""
ROUTES = """\
  {name}:
    price: {{input: 2.50, output: 15.00}}
    context_tokens: 400000
    max_output_tokens: 128000
    routes:
      - {{provider: primary, store_default: false}}
      - {{provider: backup, store_default: false}}
"""
ANSWER = "Hello from the lab."
WORDS = ["created", {"say": ANSWER}, {"completed": {"input": 10, "output": 12}}]
WELL = [{"events": WORDS}]

SCRIPTS = resources.files("latchway.lab") / "scripts"


@contextmanager
def serving(folder: Path) -> Iterator[Gateway]:
    """A gateway whose configuration and database are in `folder`."""
    plays = [{"when": {"model": name}, "calls": _ready(name)} for name in shipped()]
    labs = Labs({"routes": [*plays, {"calls": WELL}]}, {"calls": WELL})
    try:
        gateway = Gateway(folder, _configuration(labs.ports))
        try:
            yield gateway
        finally:
            gateway.stop()
    finally:
        labs.close()


def _configuration(ports: tuple[int, ...]) -> str:
    file = CONFIGURATION.format(first=ports[0], second=ports[1])
    return file + "".join(ROUTES.format(name=name) for name in (MODEL, *shipped()))


def _ready(name: str) -> Any:
    return YAML(typ="safe").load((SCRIPTS / f"{name}.yaml").read_text(encoding="utf-8"))
