"""Runs the command `latchway` as a user does, in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from latchway.cli import main

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
    *words: str, folder: Path | None = None, said: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command's exit code and what it said, run in `folder`. `said`: its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "latchway", *words],
        cwd=folder,
        env={**os.environ, **environment},
        input=said,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def in_process(
    *words: str, folder: Path | None = None, said: str = ""
) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own, for what only reads and prints: a tenth of the time.
    What standard input and output are is put back."""
    out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(said.encode()))
    try:
        with chdir(folder or "."), redirect_stdout(out), redirect_stderr(err):
            status = main(words)
    except SystemExit as left:  # of argparse: 0 after --help, 2 after wrong usage
        status = int(left.code or 0)
    finally:
        sys.stdin = stdin
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def configured(folder: Path, text: str = CONFIGURATION) -> Path:
    """A folder with a `latchway.yaml`."""
    file = folder / "latchway.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file
