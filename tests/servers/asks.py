"""What each server is asked while nothing is wrong, and how the turn must end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from servers.expected import UNKNOWN, Expected
from servers.vias import BODY, EVERY, RAW, SDK_BODY, SOCKET, SSE, Via

FEW = 4
"""Tokens. All models here would go on and on."""

USUAL, BARE = "usual", "bare"
"""The gateway's models: with the route as in the snippet, and without its `drop_fields`."""

CITIES = ("Rome", "Oslo", "Bern", "Riga")
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": [*CITIES, "Paris"]}},
        "required": ["city"],
    },
}
WEATHER_IN_PARIS = [{"role": "user", "content": "Weather in Paris?"}]
CODEX = {
    "client_metadata": {"turn_id": "1"},
    "prompt_cache_key": "one",
    "include": ["reasoning.encrypted_content"],
    "parallel_tool_calls": True,
    "store": False,
}
"""Fields that Codex adds to each request."""

ITS_OWN = "the id of an earlier response of this server"
"""In a request: a run puts that of `STORED` there."""

STORED = "four tokens, `store: true`"
OMITTED = "`stream` not said"
BARE_FIELDS = "the same without `drop_fields`"
TOO_LONG = "more than its context"
CONTINUES = "a continuation of its own response"
TOOL = "a tool that must be called"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, asked in several ways."""

    name: str
    request: dict[str, Any]
    vias: tuple[Via, ...]
    model: str = USUAL
    expected: Expected | None = None
    """Whatever the server is; None: as the server has it."""


TOO_MANY_WORDS = "bridge " * 10_000
"""At least a token each."""

ASKS = (
    Ask("four tokens", {"max_output_tokens": FEW}, EVERY),
    Ask(STORED, {"store": True, "max_output_tokens": FEW}, (SSE,)),
    Ask(OMITTED, {"stream": None, "max_output_tokens": FEW}, (BODY, SDK_BODY)),
    Ask("fields that Codex adds", {**CODEX, "max_output_tokens": FEW}, (SSE, SOCKET)),
    Ask(BARE_FIELDS, {**CODEX, "max_output_tokens": FEW}, (SSE, SOCKET), BARE),
    Ask(TOO_LONG, {"input": TOO_MANY_WORDS, "max_output_tokens": FEW}, EVERY),
    Ask("a continuation of what nobody knows", {"previous_response_id": "resp_0"}, RAW,
        expected=UNKNOWN),
    Ask(CONTINUES, {"previous_response_id": ITS_OWN, "max_output_tokens": FEW}, RAW),
)  # fmt: skip


def tool(conversation: list[dict[str, Any]]) -> Ask:
    """The conversation after which a model calls the tool."""
    request = {
        "input": conversation,
        "tools": [WEATHER],
        "tool_choice": "required",
        "temperature": 0,
        "max_output_tokens": 10 * FEW,
    }
    return Ask(TOOL, request, EVERY)
