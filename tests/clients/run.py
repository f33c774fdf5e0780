"""Client by client, way by way: what was seen, called, recorded and charged, against R2.

`make clients` runs all of it and prints a line for each client; the tests run a part.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients.environments import Unavailable
from clients.gateway import Gateway
from clients.outcome import Outcome
from clients.readers import Seen
from clients.roster import CLIENTS, Client, command
from clients.stage import Stage, set_up
from clients.table import WAYS
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
        fields = {name: self.printed[name] for name in Seen.__slots__}
        return Seen(**{**fields, "types": tuple(fields["types"])})

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


def play(stage: Stage, client: Client) -> list[Run]:
    """All ways, one after the other, in one process of the client. Raises Unavailable."""
    tried = [(way, said) for way in stage.ways if (said := outcome(client, way)) is not None]
    jobs = [json.dumps(_job(stage, client, way)) for way, _ in tried]
    done = subprocess.run(
        command(client),
        input="\n".join(jobs) + "\n",
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS,
    )
    assert done.returncode == 0, f"{client.name}: {done.stderr}"
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    return [Run(client, way, said, line) for (way, said), line in zip(tried, printed, strict=True)]


def _job(stage: Stage, client: Client, way: Way) -> dict[str, Any]:
    gateway = stage.gateway(way, client.key)
    usual = {"store": False} if client.over_socket else {}
    return {
        "mode": client.mode,
        "url": gateway.url,
        "key": gateway.key(client.key),
        "request": stage.request(gateway, way, label(client, way), **usual),
        "max_retries": client.max_retries,
    }


def differences(stage: Stage, runs: Iterable[Run]) -> list[str]:
    """What is not as R2 says. Stops the gateways: their books are read when all is written."""
    for gateway in stage.gateways.values():
        assert gateway.stop() == 0, "".join(gateway.said)
        gateway.verify()
    books = {gateway: Books.of(gateway) for gateway in stage.gateways.values()}
    return [
        f"{run}: {what}"
        for run in runs
        for what in _differences(stage, books[stage.gateway(run.way, run.client.key)], run)
    ]


@dataclass(frozen=True, slots=True)
class Books:
    """What a gateway has written, by key and model."""

    records: dict[tuple[str, str], list[dict[str, Any]]]
    charges: dict[str, str]

    @classmethod
    def of(cls, gateway: Gateway) -> Books:
        """Read them with the commands."""
        records: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for record in gateway.records():
            records.setdefault((record["key"], record["model"]), []).append(record)
        return cls(records, gateway.charges())


def _differences(stage: Stage, books: Books, run: Run) -> Iterable[str]:
    records = books.records.get((run.client.key, run.way.name), [])
    if len(records) != run.times:
        yield f"{len(records)} turns in the log, not {run.times}; seen: {run.printed}"
        return
    record = records[-1]
    calls = tuple(len(calls) for calls in stage.labs.calls(label(run.client, run.way)))
    facts: dict[str, tuple[Any, Any]] = {
        "seen": (run.seen, run.client.expected(run.outcome)),
        "calls": (calls, tuple(each * run.times for each in run.outcome.calls)),
        "verdicts": (verdicts(record), run.outcome.verdicts),
        "ledger": (books.charges.get(record["request_id"], NOTHING), run.outcome.charge),
        "charged": (record["billing"]["charged"], run.outcome.charge),
        "ids": (run.printed["ids"], _known_ids(run, record)),
    }
    yield from (f"{name}: {was}, not {said}" for name, (was, said) in facts.items() if was != said)


NOTHING = "0.000000000"


def verdicts(record: dict[str, Any]) -> tuple[str, ...]:
    """Rule and verdict of each attempt that failed."""
    attempts = record["attempts"]
    return tuple(f"{a['rule']} {a['verdict']}" for a in attempts if a["verdict"] is not None)


def _known_ids(run: Run, record: dict[str, Any]) -> list[str]:
    """The one response id that the client may have seen."""
    known = run.seen.types and (run.client.whole or run.outcome.before)
    return [record["response_id"]] if known else []


def main() -> int:
    """Try every client against every way. 1: something is not as R2 says."""
    with (
        tempfile.TemporaryDirectory(prefix="latchway-clients-") as folder,
        set_up(WAYS, Path(folder)) as stage,
    ):
        runs = [run for client in CLIENTS for run in _tried(stage, client, print)]
        wrong = differences(stage, runs)
    for line in wrong:
        print(f"NOT AS R2 SAYS: {line}")
    print(f"{len(runs)} turns of {len({run.client for run in runs})} clients, {len(wrong)} wrong")
    return 1 if wrong else 0


def _tried(stage: Stage, client: Client, say: Callable[[str], None]) -> list[Run]:
    try:
        runs = play(stage, client)
    except Unavailable as reason:
        say(f"{client.name}: not tried: {reason}")
        return []
    say(f"{client.name}: {len(runs)} turns")
    return runs


if __name__ == "__main__":
    sys.exit(main())
