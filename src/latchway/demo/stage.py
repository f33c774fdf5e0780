"""Where a demonstration happens: a folder that goes with it, a configuration, a key, a port."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from latchway import config
from latchway.demo.pair import Pair
from latchway.ledger.control import Store
from latchway.ledger.prices import NANO_PER_USD
from latchway.settings import Settings

MODEL = "demo"
KEY_NAME = "demo"
CREDIT = 5 * NANO_PER_USD

USUAL_PORT = 8787

CONFIGURATION = """\
listen: "{host}:{port}"
database: sqlite:///latchway.db
providers:
  first: {{base_url: "{first}"}}
  second: {{base_url: "{second}"}}
models:
  {model}:
    price: {{input: 1.00, output: 4.00}}     # USD per million tokens
    context_tokens: 2048
    max_output_tokens: 512
    routes:
      - {{provider: first, store_default: false}}
      - {{provider: second, store_default: false}}
health: {{enabled: false}}     # the first is not set aside: it shall be seen failing each time
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """`key` is the secret; `config_file` can be given to other commands while it is there."""

    settings: Settings
    config_file: Path
    key: str
    url: str = ""
    """The gateway's, `/v1` included, once it listens."""


@contextmanager
def set_up(pair: Pair, host: str, port: int | None) -> Iterator[Stage]:
    """A stage for this pair; its folder is deleted afterwards. `port` None: 8787, or a free one."""
    with tempfile.TemporaryDirectory(prefix="latchway-demo-") as folder:
        file = Path(folder) / "latchway.yaml"
        file.write_text(_configuration(pair, host, port), encoding="utf-8")
        file.chmod(0o600)
        settings = config.load(file)
        with Store.open(settings.database) as store:
            key = store.create(KEY_NAME, credit=CREDIT)
        yield Stage(settings, file, key)


def _configuration(pair: Pair, host: str, port: int | None) -> str:
    first, second = pair.urls
    return CONFIGURATION.format(
        host=f"[{host}]" if ":" in host else host,
        port=_usual_or_any_port(host) if port is None else port,
        first=first,
        second=second,
        model=MODEL,
    )


def _usual_or_any_port(host: str, usual: int = USUAL_PORT) -> int:
    """The usual port if nobody has it, else 0."""
    try:
        return _bound(host, usual)
    except OSError:
        return 0


def any_port(host: str) -> int:
    """A port that nobody has at this moment."""
    return _bound(host, 0)


def _bound(host: str, port: int) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
