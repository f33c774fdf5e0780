"""Compares what became of a conversation with what R2, R3 and R6 say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from agents.playing import QUESTIONS, Record, Row
from agents.stage import CHARGES, NAMES, First
from agents.thinking import ANSWER, CALLS, TURNS
from clients.checking import NOTHING, verdicts


@dataclass(frozen=True, slots=True)
class Turn:
    """What is to be found in the record of a turn, and in the ledger."""

    routes: tuple[str, ...]
    verdicts: tuple[str, ...]
    charge: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """A failure that is not replayed: in which turn, from 0, and how often it is asked for."""

    turn: int
    tries: int
    verdict: str


def differences(row: Row, ledger: dict[str, str]) -> list[str]:
    """What is not as it should be. `ledger`: request id to charge."""
    return [f"{row}: {line}" for line in (*_told(row), *_turns(row, ledger), *_counts(row))]


def delivered(row: Row) -> Delivered | None:
    """What the program gets to see; None: nothing."""
    first, program = row.model.first, row.program
    if row.way.tells and row.model.word in program.raises:
        return Delivered(1, 1, "R2.5 origin_bound")
    if first.fails is None:
        return None
    if row.way.stored and (first.anywhere or row.way.begins == NAMES[0]):
        return Delivered(0, program.tries, "R2.5 stored")
    if program.names_its_last and first.anywhere:
        return Delivered(1, program.tries, "R2.5 origin_bound")
    return None


def served(row: Row) -> list[Record]:
    """The records of its turns, without the requests that are refused by rule."""
    return [record for record in row.records if record["code"] not in row.program.refused]


def _told(row: Row) -> Iterator[str]:
    seen = delivered(row)
    answers = [ANSWER] * len(QUESTIONS) if seen is None else []
    raised = None if seen is None else row.program.raises[row.model.word]
    yield from _unlike("answers", row.told.answers, answers)
    yield from _unlike(
        "tools", row.told.tools, CALLS * len(QUESTIONS) if seen is None else seen.turn
    )
    yield from _unlike("raised", (row.told.raised or "").partition(":")[0] or None, raised)
    if row.way.sends and seen is None:
        yield from _unlike("sends back", bool(row.sent & row.way.sends), True)


def _turns(row: Row, ledger: dict[str, str]) -> Iterator[str]:
    """Each turn against what its request was tied to; a tie leads to who last called a tool."""
    last: str | None = None
    seen = delivered(row)
    for number, record in enumerate(served(row)):
        routes = tuple(attempt["route"] for attempt in record["attempts"])
        charge = ledger.get(record["request_id"], NOTHING)
        begin = last if last and _is_tied(row, record) else row.way.begins
        if seen is not None and number >= seen.turn:
            said = Turn((begin,), (seen.verdict,), NOTHING)
        else:
            said = _replayed(row.model.first, begin)
        yield from _unlike(f"turn {number}", Turn(routes, verdicts(record), charge), said)
        yield from _unlike(f"charge {number}", record["billing"]["charged"], charge)
        if routes and number % TURNS < CALLS:
            last = routes[-1]


def _is_tied(row: Row, record: Record) -> bool:
    return row.way.stored or record["binding"] == "origin_bound"


def _replayed(first: First, begin: str) -> Turn:
    """A turn that is answered, by another route if it fails where it begins."""
    if first.fails is None or not (first.anywhere or begin == NAMES[0]):
        return Turn((begin,), (), CHARGES[begin])
    other = NAMES[1 - NAMES.index(begin)]
    return Turn((begin, other), (f"{first.rule} replay",), CHARGES[other])


def _counts(row: Row) -> Iterator[str]:
    """The program's requests, and the calls that they became; what is refused costs nothing."""
    seen = delivered(row)
    wanted = TURNS * len(QUESTIONS) if seen is None else seen.turn + seen.tries
    yield from _unlike("requests", len(served(row)), wanted)
    refused = Counter(r["code"] for r in row.records if r["code"] in row.program.refused)
    yield from _unlike("refused", refused, Counter(row.program.refused))
    charged = {r["billing"]["charged"] for r in row.records if r["code"] in refused}
    yield from _unlike("charged for what is refused", charged, {NOTHING} if refused else set())
    tried = Counter(attempt["route"] for r in row.records for attempt in r["attempts"])
    yield from _unlike("calls", row.calls, tuple(tried[name] for name in NAMES))


def _unlike(what: str, was: object, said: object) -> Iterator[str]:
    if was != said:
        yield f"{what}: {was}, not {said}"
