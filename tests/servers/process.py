"""A server in a process of its own, which can be stopped, resumed, killed and started again."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from clients.environments import Unavailable
from clients.leaving import wait_until

ANSWER_SECONDS = 10.0
END_SECONDS = 30.0
ALONE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "VLLM_NO_USAGE_STATS": "1"}
"""Nothing is fetched, and a server leaves the other core to the gateway."""


class Process:
    """Runs from the making to `kill`; the server and the processes that it starts are one group.

    `folder` is where it runs and where its log is. Raises Unavailable.
    """

    def __init__(
        self, command: Sequence[str], port: int, folder: Path, start_seconds: float, **more: str
    ) -> None:
        self._command = command
        self._folder = folder
        self._start_seconds = start_seconds
        self._environment = {**os.environ, **ALONE, **more}
        self.port = port
        self.start()

    def start(self) -> None:
        """Begin, or begin again at the same port, and wait until it answers."""
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            wait_until(self._answers_or_ended, self._start_seconds)
        except AssertionError as late:
            self.kill()
            raise Unavailable(f"it did not start: {late}") from late
        if self._process.poll() is not None:
            self.kill()
            raise Unavailable(f"it did not start: {self._last_words()}")

    def stop(self) -> None:
        """It keeps its connections and says nothing more."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """All of it, at once."""
        with suppress(ProcessLookupError):  # it ended by itself
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate(timeout=END_SECONDS)

    def _answers_or_ended(self) -> bool:
        return self._process.poll() is not None or self._answers()

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        lines = (self._folder / "server.log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no reason given"
