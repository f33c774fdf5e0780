"""Runs the command `latchway` as a user does, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 30.0
"""No command that ends by itself takes one; a busy machine may be slow."""

CONFIGURATION = """\
listen: 127.0.0.1:0
database: sqlite:///latchway.db
providers:
  here: {base_url: "http://127.0.0.1:9/v1"}
models:
  m:
    price: {input: 1.00, output: 4.00}
    context_tokens: 1000
    max_output_tokens: 100
    routes:
      - {provider: here, store_default: false}
"""


def latchway(
    *words: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command's exit code and what it said, run in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "latchway", *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def configured(folder: Path, text: str = CONFIGURATION) -> Path:
    """A folder with a `latchway.yaml`."""
    file = folder / "latchway.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file
