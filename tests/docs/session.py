"""A page's snippets as one session at a shell, from the page's first block to its last.

So what a page tells a reader to do works in the order in which it tells it: a file that it shows
is there for the command below, a key that was made is there for the program that uses it. Nothing
is changed in the text but the ports, and the model where a block is marked for another script.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from clients.gateway import Gateway
from docs.pages import Block
from docs.stage import MODEL
from latchway.demo.stage import any_port

SECONDS = 60.0
"""The longest session takes a few; a busy machine may be slow."""

PORTS = ("8787", "9001", "9002")
"""Of the gateway and of two labs, as the pages write them."""

SERVES = "latchway serve"

STAYS = re.compile(r"^(latchway (serve|lab)\b[^#&\n]*?)[ &]*(?:#.*)?$", re.MULTILINE)
"""A command that runs until it is stopped: the reader has a second terminal, a session `&`."""

ALL_OF = """python3 -c 'import runpy, sys
for name in sys.argv[1:]:
    print("#", name)
    runpy.run_path(name, run_name="__main__")'"""
"""Programs that follow each other share an interpreter, so that what is large is imported once."""

PRELUDE = """\
set -euo pipefail
trap 'kill $(jobs -p) 2> /dev/null || :; wait' EXIT
listening() {
    until (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null; do read -rt 0.05 <> <(:) || :; done
}
"""
"""`listening PORT` waits until somebody listens there. What was started ends with the session."""


def run(page: list[Block], folder: Path, gateway: Gateway) -> str:
    """What was printed. Fails with it, and the block that was in work."""
    ports = _ports(page, gateway)
    script = PRELUDE + "".join(
        _together(list(each), ports) for _, each in groupby(page, key=_runs_in_python)
    )
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=_environment(folder, gateway),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            said, _ = shell.communicate()
    assert shell.returncode == 0, said
    return said


def _ports(page: list[Block], gateway: Gateway) -> dict[str, str]:
    """A page that starts a gateway has one of its own; the others are given one."""
    own = any(SERVES in block.text for block in page if block.language == "sh")
    ports = {port: str(any_port("127.0.0.1")) for port in PORTS}
    return ports if own else {**ports, "8787": gateway.url.split(":")[2].removesuffix("/v1")}


def _runs_in_python(block: Block) -> bool:
    return block.language == "python" and block.mark != "file"


def _together(each: list[Block], ports: dict[str, str]) -> str:
    """Blocks that follow each other: all of them programs in Python, or none."""
    if not _runs_in_python(each[0]):
        return "".join(f"echo '# {block}'\n{_work(block, ports)}" for block in each)
    names = [f"{block.page.stem}-{block.line}.py" for block in each]
    written = [_written(name, _text(block, ports)) for name, block in zip(names, each, strict=True)]
    return "".join(written) + f"{ALL_OF} {' '.join(names)}\n"


def _work(block: Block, ports: dict[str, str]) -> str:
    text = _text(block, ports)
    if block.mark == "file":
        return _written(block.value, text)
    return STAYS.sub(lambda found: _beside(found, ports), text)


def _text(block: Block, ports: dict[str, str]) -> str:
    text = re.sub("|".join(PORTS), lambda found: ports[found.group()], block.text)
    return text.replace(MODEL, block.value) if block.mark == "first route" else text


def _beside(found: re.Match[str], ports: dict[str, str]) -> str:
    """The command in the background, and the session goes on when it listens."""
    said = re.search(r"--port (\d+)", found[1])
    port = said[1] if said else ports["8787" if found[2] == "serve" else "9001"]
    command = found[1] if said else f"{found[1]} --port {port}"
    return f"{command} &\nlistening {port}"


def _written(name: str, text: str) -> str:
    return f"printf %s {shlex.quote(text)} > {shlex.quote(name)}\nchmod 600 {shlex.quote(name)}\n"


def _environment(folder: Path, gateway: Gateway) -> dict[str, str]:
    """The commands of this environment first, and a key of the gateway that is there."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LATCHWAY_KEY": gateway.key("alice"),
    }
