"""Compares what was seen, called, recorded and charged with what R2 says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clients.gateway import Gateway
from clients.playing import Run, label
from clients.stage import USUAL, Stage

NOTHING = "0.000000000"


def differences(stage: Stage, runs: Iterable[Run]) -> list[str]:
    """What is not as R2 says. Stops the gateways: their books are read when all is written."""
    for gateway in stage.gateways.values():
        assert gateway.stop() == 0, "".join(gateway.said)
        gateway.verify()
    books = {gateway: Books.of(gateway) for gateway in stage.gateways.values()}
    turns = [
        f"{run}: {what}"
        for run in runs
        for what in _differences(stage, books[stage.gateway(run.way, run.client.key)], run)
    ]
    faults = [line for line in stage.gateways[USUAL].said if '"level": "error"' in line]
    return turns + [f"the gateway said: {line.strip()}" for line in faults]


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


def verdicts(record: dict[str, Any]) -> tuple[str, ...]:
    """Rule and verdict of each attempt that failed."""
    attempts = record["attempts"]
    return tuple(f"{a['rule']} {a['verdict']}" for a in attempts if a["verdict"] is not None)


def _known_ids(run: Run, record: dict[str, Any]) -> list[str]:
    """The one response id that the client may have seen."""
    known = run.seen.types and (run.client.whole or run.outcome.before)
    return [record["response_id"]] if known else []
