"""`make upstreams`: real servers behind a real gateway, asked, stopped and killed.

A line tells of each server, with the reason if it was not tried; 1 if anything is not as the rules
say. Where all is right, what docs/upstreams.md prints about the server is written anew.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from clients.environments import Unavailable
from servers import page
from servers.checking import differences
from servers.hurting import hurt_all
from servers.llama_cpp import LLAMA
from servers.manners import manners
from servers.passed import fetch_all
from servers.playing import ask_all, rows, stored_id
from servers.server import Server
from servers.stage import Stage, set_up
from servers.transformers import TRANSFORMERS
from servers.vllm import VLLM

TERMINATED = 128 + signal.SIGTERM
"""An exit in order: no server is left behind."""

SERVERS = (LLAMA, TRANSFORMERS, VLLM)


def main(names: list[str]) -> int:
    """Those whose names begin so; without a name, all of them."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    wanted = [s for s in SERVERS if not names or s.name.startswith(tuple(names))]
    wrong = sum(len(_tried(server)) for server in wanted)
    print("all is as it should be" if not wrong else f"{wrong} differences")
    return 1 if wrong else 0


def _tried(server: Server) -> list[str]:
    try:
        with tempfile.TemporaryDirectory() as folder, set_up(server, Path(folder)) as stage:
            return _judged(stage)
    except Unavailable as reason:
        print(f"{server.name}: not tried: {reason}", flush=True)
        return []


def _judged(stage: Stage) -> list[str]:
    """What is not as it should be; if that is nothing, the page is written."""
    server = stage.server
    asked = ask_all(stage)
    fetched = fetch_all(stage, stored_id(asked))
    found = rows(stage, [*asked, *hurt_all(stage)])
    seen = manners(found[0].calls[0][0])
    charges = stage.gateway.charges()
    wrong = [line for row in found for line in differences(row, stage.prices, charges)]
    wrong += [f"{each.what}: {line}" for each in fetched for line in each.wrong]
    if seen != server.manners:
        wrong.append(f"manners: {seen}, not {server.manners}")
    if not wrong:
        page.write(server, page.section(server, seen, found, fetched))
    print(f"{server.name}: {len(found)} turns", flush=True)
    for line in wrong:
        print(f"{server.name}: NOT AS IT SHOULD BE: {line}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
