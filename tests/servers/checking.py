"""Compares what a client was told with what the server sent, what was recorded and what charged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clients.checking import NOTHING
from servers.asks import TOOL
from servers.expected import RESULTS
from servers.playing import Row
from servers.tap import Call
from servers.told import blocks_of, data_of
from servers.vias import SOCKET, SSE

NANO_PER_USD = 1_000_000_000
TOKENS = 1_000_000
"""A price is for so many."""


def differences(row: Row, prices: tuple[float, float], charges: dict[str, str]) -> list[str]:
    """What is not as the rules say."""
    found = [*_ending(row), *_bytes(row), *_bill(row, prices, charges)]
    name = f"{row.played.what} / {row.played.via.name} / {row.played.label}"
    return [f"{name}: {what}" for what in found]


def _ending(row: Row) -> Iterator[str]:
    """Told as expected, after as many calls, with these verdicts."""
    told, expected = row.played.told, row.played.expected
    if isinstance(expected.ending, int):
        was: str | int | None = told.status
    elif expected.is_result:
        was = (told.ending or expected.ending) if told.is_result else str(told)
    else:
        was = str(told.code)
    yield from _unlike("ending", was, expected.ending)
    yield from _unlike("verdicts", row.verdicts, expected.verdicts)
    yield from _unlike("calls", tuple(len(calls) for calls in row.calls), expected.calls)
    if row.played.what == TOOL and row.played.via in (SSE, SOCKET):
        yield from _unlike("calls the tool", "function_call" in told.output, True)
    if len(told.ids) > 1:
        yield f"more than one response id: {told.ids}"


def _bytes(row: Row) -> Iterator[str]:
    """What an upstream ended is told as that upstream told it."""
    told, call = row.played.told, _delivered(row)
    result = row.played.expected.is_result
    if call is None:
        yield from ["no answer has passed whole"] if result else []
        return
    if row.played.via.is_sdk and result:
        yield from _unlike("types", told.types, _types(call))
    elif not row.played.via.is_sdk and (result or not told.socket):
        yield from _unlike("bytes", told.wire, _wire(call, told.socket))


def _bill(row: Row, prices: tuple[float, float], charges: dict[str, str]) -> Iterator[str]:
    """A result costs what the upstream's usage says, to the nano-dollar; all else is free."""
    billing, call = row.record["billing"], _delivered(row)
    wanted = NOTHING
    if row.played.expected.is_result and call is not None:
        usage = _usage(call)
        nano = sum(
            round(usage[name] * price * NANO_PER_USD / TOKENS)
            for name, price in zip(("input_tokens", "output_tokens"), prices, strict=True)
        )
        wanted = f"{nano / NANO_PER_USD:.9f}"
        yield from _unlike("source of usage", billing["usage_source"], "upstream")
    yield from _unlike("charged", billing["charged"], wanted)
    yield from _unlike("ledger", charges.get(row.record["request_id"], NOTHING), wanted)


def _delivered(row: Row) -> Call | None:
    """The last call that was answered whole; None: the gateway itself ended the turn."""
    if not isinstance(row.played.expected.ending, int) and not row.played.expected.is_result:
        return None
    first, second = row.calls
    whole = [call for call in (*first, *second) if call.whole]
    return whole[-1] if whole else None


def _wire(call: Call, socket: bool) -> tuple[bytes, ...]:
    """As a client must have got it."""
    if not call.streamed:
        return (call.answer,)
    events = blocks_of(call.answer)
    return tuple(data_of(event) for event in events) if socket else tuple(events)


def _types(call: Call) -> tuple[str, ...]:
    if call.streamed:
        return tuple(event["type"] for event in events_of(call))
    said = json.loads(call.answer)
    return (said["status"],) if said.get("status") in RESULTS else ()


def events_of(call: Call) -> list[dict[str, Any]]:
    """The events of a streamed answer."""
    return [json.loads(data_of(event)) for event in blocks_of(call.answer)]


def _usage(call: Call) -> dict[str, Any]:
    said = events_of(call)[-1]["response"] if call.streamed else json.loads(call.answer)
    usage: dict[str, Any] = said["usage"]
    return usage


def _unlike(name: str, was: object, wanted: object) -> Iterator[str]:
    if was != wanted:
        yield f"{name}: {was}, not {wanted}"
