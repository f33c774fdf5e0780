"""Workers as a test sees them from outside: which there are, and which serves what."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from command import SECONDS
from latchway.ledger.database import open_reader
from serve.processes import DATABASE, Gateway

WORKERS = "SELECT served_by FROM epoch WHERE under IS NOT NULL"
OPEN = (
    "SELECT request_id, served_by FROM turn JOIN epoch USING (epoch) WHERE state = 'open'"
    " ORDER BY turn"
)
STATES = "SELECT request_id, state, charged FROM turn"


def wait_until(condition: Callable[[], Any]) -> Any:
    """Ask again until it holds, but not for ever. What it was in the end."""
    until = time.monotonic() + 2 * SECONDS
    while not (found := condition()):
        assert time.monotonic() < until, "it does not come to hold"
    return found


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    connection = open_reader(folder / DATABASE)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def pid_of(served_by: str) -> int:
    return int(served_by.rpartition("/")[2])


def alive(folder: Path) -> set[int]:
    """Workers whose process is there."""
    pids = {pid_of(served_by) for (served_by,) in rows(folder, WORKERS)}
    return {pid for pid in pids if Path(f"/proc/{pid}/fd").exists() and _has_files(pid)}


def _has_files(pid: int) -> bool:
    """A process that has died but was not asked for yet has none."""
    try:
        return bool(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def open_turns(folder: Path) -> dict[str, int]:
    """Each turn in flight, and the worker that serves it."""
    return {request: pid_of(served_by) for request, served_by in rows(folder, OPEN)}


class Stream:
    """A streamed turn under way: its first line was read. `pid`: of its worker."""

    def __init__(self, folder: Path, gateway: Gateway, model: str) -> None:
        self.connection = gateway.ask(model)
        self.answer = self.connection.getresponse()
        self.first = self.answer.readline()
        self.id = self.answer.headers["x-request-id"]
        self.pid = open_turns(folder)[self.id]

    def rest(self) -> bytes:
        """All of it from here, to its end."""
        try:
            return self.first + self.answer.read()
        finally:
            self.connection.close()


def streams(folder: Path, gateway: Gateway, model: str, pids: set[int]) -> dict[int, list[Stream]]:
    """Turns in flight on each of these workers, one or more."""
    found: dict[int, list[Stream]] = {}
    while found.keys() != pids:
        stream = Stream(folder, gateway, model)
        found.setdefault(stream.pid, []).append(stream)
    return found


def ask(gateway: Gateway, model: str = "good") -> str:
    """A whole turn on a connection of its own; its request id."""
    connection = gateway.ask(model)
    answer = connection.getresponse()
    assert answer.status == 200
    assert b"response.completed" in answer.read()
    connection.close()
    return str(answer.headers["x-request-id"])


def get(gateway: Gateway, path: str, **headers: str) -> tuple[int, bytes]:
    """From whichever worker takes the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=SECONDS)
    connection.request("GET", path, headers={**gateway.headers, **headers})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def record(gateway: Gateway, request_id: str) -> dict[str, Any]:
    status, body = get(gateway, f"/v1/requests/{request_id}")
    assert status == 200, body
    found: dict[str, Any] = json.loads(body)
    return found
