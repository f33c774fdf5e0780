"""Plays turns one after the other, and lays beside each what was written about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from websockets.exceptions import WebSocketException

from clients.checking import NOTHING, verdicts
from servers.asks import ASKS, ITS_OWN, STORED, TOO_LONG, Ask, tool
from servers.expected import Expected
from servers.server import Server
from servers.stage import KEY, Stage
from servers.tap import Call
from servers.told import Told
from servers.vias import Turn, Via

LAST_LINES = 20
"""Of the gateway's log, where it did not answer at all."""

Amid = Callable[[Turn, str], None]
"""What happens between a turn's beginning and its end; told the turn and its label."""


@dataclass(frozen=True, slots=True)
class Played:
    """One turn that was played."""

    what: str
    via: Via
    expected: Expected
    label: str
    told: Told


@dataclass(frozen=True, slots=True)
class Row:
    """The same, with its record and the calls at both servers."""

    played: Played
    record: dict[str, Any]
    calls: tuple[list[Call], list[Call]]

    @property
    def verdicts(self) -> tuple[str, ...]:
        return verdicts(self.record)

    @property
    def charged(self) -> str:
        amount: str = self.record["billing"]["charged"]
        return amount

    @property
    def is_free(self) -> bool:
        return self.charged == NOTHING


def ask_all(stage: Stage) -> list[Played]:
    """Everything that the server is asked while nothing is wrong."""
    server, played = stage.server, list[Played]()
    for ask in _asks(server):
        expected = ask.expected or server.differs.get(ask.name, server.cut)
        for via in ask.vias:
            request = _with_own_id(ask.request, played)
            played.append(play(stage, (ask.name, expected), via, ask.model, request))
    return played


def _asks(server: Server) -> Iterator[Ask]:
    """All that this server can be asked."""
    yield from (ask for ask in ASKS if server.bounded or ask.name != TOO_LONG)
    if server.tool_input is not None:
        yield tool(server.tool_input)


def _with_own_id(request: dict[str, Any], played: list[Played]) -> dict[str, Any]:
    """The request, with the stored response's id where it has `ITS_OWN`."""
    if request.get("previous_response_id") != ITS_OWN:
        return request
    return {**request, "previous_response_id": stored_id(played)}


def stored_id(played: list[Played]) -> str:
    """Of the response that the server was asked to keep."""
    (told,) = (each.told for each in played if each.what == STORED)
    return told.ids[0]


def play(
    stage: Stage,
    what: tuple[str, Expected],
    via: Via,
    model: str,
    request: dict[str, Any],
    amid: Amid | None = None,
) -> Played:
    """One turn, from its beginning to its end. Raises Unavailable."""
    label = stage.label()
    said = {"model": model, **request, "input": _labelled(label, request.get("input", ""))}
    try:
        turn = via.begin(stage.gateway.url, stage.gateway.key(KEY), said)
        if amid is not None:
            amid(turn, label)
        told = turn.end()
    except (OSError, HTTPException, WebSocketException) as broken:
        raise AssertionError("".join(stage.gateway.said[-LAST_LINES:])) from broken
    name, expected = what
    return Played(name, via, expected, label, told)


def rows(stage: Stage, played: list[Played]) -> list[Row]:
    """Stops the gateway: its books are read when all is written."""
    assert stage.gateway.stop() == 0, "".join(stage.gateway.said)
    stage.gateway.verify()
    records = stage.gateway.records()
    assert len(records) == len(played), f"{len(records)} records of {len(played)} turns"
    first, second = stage.taps
    return [
        Row(each, record, (first.calls(each.label), second.calls(each.label)))
        for each, record in zip(played, records, strict=True)
    ]


def _labelled(label: str, said: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(said, str):
        return f"{label} {said or 'Say something.'}"
    return [{"role": "user", "content": label}, *said]
