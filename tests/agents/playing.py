"""A program holds a conversation, and what became of it is gathered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from agents.job import Job, Told
from agents.roster import Program
from agents.stage import Model, Stage
from agents.ways import Way, sent_back

QUESTIONS = ("Is bridge {} open?", "And now?")
"""With the conversation's number: no two conversations begin alike."""


Record = dict[str, Any]
"""Of a turn, as `latchway requests` tells it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One conversation, by the name of its key."""

    program: Program
    way: Way
    model: Model
    key: str
    told: Told
    calls: tuple[int, int]
    """At the first route's upstream and at the second's."""
    sent: frozenset[str]
    """What its requests held of things that their maker has kept or sealed."""
    records: tuple[Record, ...] = ()
    """Of its requests, in their order."""

    def __str__(self) -> str:
        return f"{self.program.name} / {self.way.told} / {self.model.first.told}"


def play(stage: Stage, program: Program, way: Way, model: Model) -> Row:
    """One conversation, with a key and a folder of its own. Raises Unavailable."""
    number = stage.next_number()
    folder, key = stage.folder / f"conversation-{number}", f"key-{number}"
    folder.mkdir()
    before = [len(calls) for calls in stage.calls()]
    url, secret = stage.gateway.url, stage.gateway.key(key)
    questions = tuple(question.format(number) for question in QUESTIONS)
    told = program.play(Job(url, secret, model.name, way.mode, way.headers, questions), folder)
    calls = [each[seen:] for each, seen in zip(stage.calls(), before, strict=True)]
    return Row(
        program,
        way,
        model,
        key,
        told,
        (len(calls[0]), len(calls[1])),
        frozenset(word for each in calls for call in each for word in sent_back(call.json)),
    )


def with_records(stage: Stage, rows: Iterable[Row]) -> list[Row]:
    """The same, with what the gateway has written of each."""
    records: dict[str, list[Record]] = {}
    for record in stage.gateway.records():
        records.setdefault(record["key"], []).append(record)
    return [replace(row, records=tuple(records.get(row.key, ()))) for row in rows]
