"""What is unusual in a server's events, beside what OpenAI's API says they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from servers.checking import events_of
from servers.tap import Call
from servers.told import blocks_of

Events = list[dict[str, Any]]

POSITIONED = "response.output_item.added"

UNUSUAL: dict[str, Callable[[Events], bool]] = {
    "no `sequence_number`": lambda events: all("sequence_number" not in each for each in events),
    "no `output_index`": lambda events: any(
        each["type"] == POSITIONED and "output_index" not in each for each in events
    ),
    "`response.created` has an id and a status, and little else": lambda events: (
        "output" not in events[0]["response"]
    ),
    "the first status is `queued`": lambda events: events[0]["response"]["status"] == "queued",
    "`created_at` is no whole number": lambda events: isinstance(
        events[-1]["response"]["created_at"], float
    ),
    "`response.completed` of a response with status `incomplete`": lambda events: (
        (events[-1]["type"], events[-1]["response"]["status"])
        == ("response.completed", "incomplete")
    ),
    "members beside the response in the last event: `timings`": lambda events: (
        "timings" in events[-1]
    ),
    "a response that was cut at its last token is `completed`": lambda events: (
        events[-1]["response"]["status"] == "completed"
    ),
    "no `output_tokens_details`": lambda events: (
        "output_tokens_details" not in events[-1]["response"]["usage"]
    ),
}


def manners(call: Call) -> tuple[str, ...]:
    """Of the stream of a response that was cut at its last token."""
    blocks, events = blocks_of(call.answer), events_of(call)
    named = [block.startswith(b"event:") for block in blocks]
    first = [] if all(named) else ["no `event:` lines"]
    last = ["`[DONE]` at the end"] if b"[DONE]" in call.answer else []
    return (*first, *(name for name, seen in UNUSUAL.items() if seen(events)), *last)
