"""The snippets of SDKs that are not installed here are run as well, as their readers run them.

Each is a program for itself, in the environment of its packages that real clients are tried in.
The answer must come out, and the gateway must have delivered it, to nobody else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.job import HERE
from clients import environments
from clients.environments import Unavailable
from clients.gateway import Gateway
from docs.pages import Block, all_blocks
from docs.stage import ANSWER, serving

PAGES_URL = "http://127.0.0.1:8787/v1"
"""As the pages write it: an operator's gateway has another one."""

SECONDS = 120.0
"""An SDK is read from the disk for the first time: ten, on a busy machine more."""

PROGRAMS = [block for block in all_blocks() if block.mark == "run with"]


def in_node(program: str, folder: Path) -> list[str]:
    """Node looks for packages beside the program."""
    node, packages = environments.node()
    (folder / "node_modules").symlink_to(packages / "node_modules")
    return [node, _written(folder / "program.mjs", program)]


def in_python(program: str, folder: Path) -> list[str]:
    return [environments.python("agents", HERE), _written(folder / "program.py", program)]


COMMANDS: dict[str, Callable[[str, Path], list[str]]] = {"js": in_node, "python": in_python}
"""By language: what starts a program, written into a folder. Raises Unavailable."""


def _written(file: Path, program: str) -> str:
    file.write_text(program, encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("programs")) as gateway:
        yield gateway


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_the_program_prints_the_answer_that_was_delivered(
    block: Block, gateway: Gateway, tmp_path: Path
) -> None:
    assert PAGES_URL in block.text
    try:
        command = COMMANDS[block.language](block.text.replace(PAGES_URL, gateway.url), tmp_path)
    except Unavailable as reason:
        pytest.skip(f"{block.value} cannot be installed here: {reason}")
    before = len(gateway.records())
    done = _run(command, gateway.key("reader"))
    assert (done.returncode, done.stdout.strip()) == (0, ANSWER), done.stderr
    (record,) = gateway.records()[before:]
    assert (record["outcome"], record["delivered"]) == ("completed", "output")
    assert record["binding"] == "stateless", "the page says that it may be replayed"


def _run(command: list[str], key: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LATCHWAY_KEY": key}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
