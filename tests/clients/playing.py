"""A client's program plays ways: a job for each turn goes in, what it saw comes out."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from clients.outcome import Outcome
from clients.readers import Seen
from clients.roster import Client, command
from clients.stage import Stage
from clients.way import Way

PROGRAM_SECONDS = 120.0
"""Of one client and all ways; a client that hangs ends the run."""


@dataclass(frozen=True, slots=True)
class Run:
    """One turn of one client, and what its program printed about it."""

    client: Client
    way: Way
    outcome: Outcome
    printed: dict[str, Any]

    @property
    def seen(self) -> Seen:
        return seen_of(self.printed)

    @property
    def times(self) -> int:
        """Turns that the client makes of it: an SDK asks again where it is told that it may."""
        again = self.outcome.retryable and self.seen.status is not None
        return 1 + (self.client.max_retries if again else 0)

    def __str__(self) -> str:
        return f"{self.client.name} / {self.way.name} ({self.way.rule})"


def label(client: Client, way: Way) -> str:
    return f"[{way.name} by {client.name}]"


def outcome(client: Client, way: Way) -> Outcome | None:
    """What is expected; None: this client is not tried against this way.

    A failpoint acts once, so that it is nothing for a client that asks again.
    """
    if way.failpoint and client.max_retries:
        return None
    if client.adds_nothing and any(value is not None for value in way.request.values()):
        return None
    return way.body if client.whole else way.streamed


def job(stage: Stage, client: Client, way: Way) -> str:
    """A line for the client's program: one turn."""
    gateway = stage.gateway(way, client.key)
    usual = {"store": False} if client.over_socket else {}
    return json.dumps(
        {
            "mode": client.mode,
            "url": gateway.url,
            "key": gateway.key(client.key),
            "request": stage.request(gateway, way, label(client, way), **usual),
            "max_retries": client.max_retries,
        }
    )


def start(client: Client, jobs: list[str]) -> subprocess.Popen[str]:
    """The client's program at work. Raises Unavailable."""
    process = subprocess.Popen(
        command(client),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("\n".join(jobs) + "\n")
    process.stdin.flush()
    return process


def printed(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """What the program says about its turns, once it has ended."""
    try:
        said, faults = process.communicate(timeout=PROGRAM_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, faults
    return [json.loads(line) for line in said.splitlines()]


def seen_of(line: dict[str, Any]) -> Seen:
    """A printed line, as it is compared."""
    fields = {name: line[name] for name in Seen.__slots__}
    return Seen(**{**fields, "types": tuple(fields["types"])})


def play(stage: Stage, client: Client) -> list[Run]:
    """All ways, one after the other, in one process of the client. Raises Unavailable."""
    tried = [(way, said) for way in stage.ways if (said := outcome(client, way)) is not None]
    lines = printed(start(client, [job(stage, client, way) for way, _ in tried]))
    return [Run(client, way, said, line) for (way, said), line in zip(tried, lines, strict=True)]
