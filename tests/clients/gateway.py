"""A gateway as an operator runs it: a folder, `latchway serve`, and the commands beside it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from command import latchway

OWNER = "clients"
"""One owner for all keys: a continuation may be asked for with another key than its beginning."""

START_SECONDS = 20.0
"""It takes half a second; a busy machine may be slow."""

END_SECONDS = 30.0
"""No turn is in flight when a run ends, so that a gateway leaves at once."""


class Gateway:
    """Runs from the making to `stop`. `url` ends in /v1."""

    def __init__(self, folder: Path, configuration: str, failpoint: str = "") -> None:
        self.folder = folder
        file = folder / "latchway.yaml"
        file.write_text(configuration, encoding="utf-8")
        file.chmod(0o600)
        self._keys: dict[str, str] = {}
        words = ["serve", "--port", "0", *(["--test"] if failpoint else [])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "latchway", *words],
            cwd=folder,
            env={**os.environ, "LATCHWAY_FAILPOINT": failpoint},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._address: Future[str] = Future()
        self._reader = threading.Thread(target=self._read, name="gateway's log", daemon=True)
        self._reader.start()
        self.url = self._address.result(START_SECONDS) + "/v1"

    def key(self, name: str) -> str:
        """The secret of the key of that name, made when it is asked for first."""
        if name not in self._keys:
            words = ("keys", "create", name, "--owner", OWNER, "--unlimited", "--json")
            self._keys[name] = json.loads(self._say(*words))["key"]
        return self._keys[name]

    def post(self, key: str, request: dict[str, Any]) -> dict[str, Any]:
        """One turn that is not streamed."""
        connection = http.client.HTTPConnection(self._authority(), timeout=END_SECONDS)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/responses", json.dumps(request), headers)
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        connection = http.client.HTTPConnection(self._authority(), timeout=END_SECONDS)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        own = [line for line in lines if re.match(rf"{name}[{{ ]", line)]
        return sum(float(line.split()[-1]) for line in own)

    def records(self) -> list[dict[str, Any]]:
        """What `latchway requests` knows of all turns, in the order of their ends."""
        listed = json.loads(self._say("requests", "list", "--limit", "10000", "--json"))
        return list(reversed(listed))

    def record(self, request_or_response_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(
            self._say("requests", "show", request_or_response_id, "--json")
        )
        return shown

    def charges(self) -> dict[str, str]:
        """Request id to what `latchway ledger` has charged for it."""
        entries = json.loads(self._say("ledger", "--json"))["entries"]
        return {entry["turn"]: entry["amount"] for entry in entries if entry["kind"] == "charge"}

    def accounts(self) -> list[dict[str, Any]]:
        accounts: list[dict[str, Any]] = json.loads(self._say("ledger", "--json"))["accounts"]
        return accounts

    def verify(self) -> None:
        """`latchway ledger verify` finds every invariant holding."""
        self._say("ledger", "verify")

    def terminate(self) -> None:
        """Ask it to leave, without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Ask it to leave, and wait; its exit code."""
        if self.process.poll() is None:
            self.terminate()
        status = self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        return status

    def _authority(self) -> str:
        return self.url.removeprefix("http://").removesuffix("/v1")

    def _say(self, *words: str) -> str:
        done = latchway(*words, folder=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _read(self) -> None:
        """Take what the gateway says, so that it never waits for a reader."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.said.append(line)
                address = re.search(r"http://127\.0\.0\.1:\d+", line)
                if address and not self._address.done():
                    self._address.set_result(address.group())
        if not self._address.done():
            self._address.set_exception(AssertionError("".join(self.said)))
