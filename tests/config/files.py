"""Configurations for the tests: a good one, and that one with a part of it made otherwise."""

from __future__ import annotations

from pathlib import Path

from latchway.config import Fault, check, load
from latchway.settings import Settings

GOOD = """\
listen: 127.0.0.1:8787
database: sqlite:///latchway.db
admin_token: "${ADMIN}"
metrics_token: "${METRICS}"
providers:
  primary: {base_url: "https://api.example.com/v1", api_key: "${KEY}"}
  backup: {base_url: "http://127.0.0.1:9002/v1"}
models:
  m:
    price: {input: 2.50, cached_input: 0.25, output: 15}
    context_tokens: 400000
    max_output_tokens: 128000
    routes:
      - {provider: primary, store_default: false}
      - {provider: backup, model: m-2, store_default: false}
turn:
  hold_seconds: 10
replay: {max_share: 1.0}
health: {failures: 5}
log: {keep_days: 30}
"""

ENVIRON = {"ADMIN": "admin-token", "METRICS": "metrics-token", "KEY": "sk-provider"}


def write(folder: Path, text: str) -> Path:
    """The text as a file that only its owner can read."""
    path = folder / "latchway.yaml"
    path.write_bytes(text.encode())
    path.chmod(0o600)
    return path


def with_part(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, f"{old!r} stands {GOOD.count(old)} times in the good file"
    return GOOD.replace(old, new)


def findings(folder: Path, text: str, environ: dict[str, str] = ENVIRON) -> list[Fault]:
    return check(write(folder, text), environ)


def settings(folder: Path, text: str = GOOD, environ: dict[str, str] = ENVIRON) -> Settings:
    return load(write(folder, text), environ)
