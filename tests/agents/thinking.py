"""What the scripted model says: two calls of a tool, then an answer that quotes what they gave.

Pure: from a request and the items it stands on to the items of the answer, and to their events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

Item = dict[str, Any]

ARGUMENTS: dict[str, dict[str, Any]] = {
    "exec_command": {"cmd": "echo open"},
    "look_up": {"what": "the bridge"},
}
"""Of each tool that the model knows; it calls the first that it is offered."""

TOOL_SAYS = "open"
CALLS = 2
"""Of a tool, for each question: so that an answer is three turns."""
TURNS = CALLS + 1
ANSWER = f"Done: {', '.join([TOOL_SAYS] * CALLS)}."

ENCRYPTED = "reasoning.encrypted_content"
"""Of `include`: a client that wants to send reasoning back without its being stored."""


def answer(request: Item, items: list[Item], seal: str, *, tells: bool) -> list[Item]:
    """The items that the model adds to those. `seal`: begins whatever it encrypts.

    `tells`: what it reasoned is there, by an id; sealed if the request asks for that.
    """
    said = _said_since_the_question(items)
    if len(said) == CALLS:
        return [_message(f"Done: {', '.join(said)}.")]
    if ENCRYPTED in (request.get("include") or ()):
        return [{**_reasoning(), "encrypted_content": seal + token_hex(32)}, _call(request)]
    return [_reasoning(), _call(request)] if tells else [_call(request)]


def events(response: Item) -> list[Item]:
    """The stream of a response that is complete, numbered from 0."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    stream: list[Item] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(response["output"]):
        stream += [{**event, "output_index": index} for event in _item_events(item)]
    stream.append({"type": "response.completed", "response": response})
    return [{**event, "sequence_number": number} for number, event in enumerate(stream)]


def _said_since_the_question(items: list[Item]) -> list[str]:
    """The last line of what each tool gave, after the last message of the user."""
    said: list[str] = []
    for item in items:
        if item.get("role") == "user":
            said.clear()
        elif item.get("type") == "function_call_output":
            said.append(_text(item["output"]).strip().splitlines()[-1])
    return said


def _text(output: str | list[Item]) -> str:
    if isinstance(output, str):
        return output
    return "".join(part["text"] for part in output)


def _message(text: str) -> Item:
    own: Item = {"role": "assistant", "status": "completed", "content": [_part(text)]}
    return {"id": f"msg_{token_hex(12)}", "type": "message", **own}


def _part(text: str) -> Item:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _reasoning() -> Item:
    return {"id": f"rs_{token_hex(12)}", "type": "reasoning", "summary": []}


def _call(request: Item) -> Item:
    offered = [tool.get("name") for tool in request["tools"]]
    name = next(name for name in offered if name in ARGUMENTS)
    return {
        "id": f"fc_{token_hex(12)}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{token_hex(12)}",
        "name": name,
        "arguments": json.dumps(ARGUMENTS[name]),
    }


def _item_events(item: Item) -> Iterator[Item]:
    empty = {**item, **_EMPTY[item["type"]]}
    yield {"type": "response.output_item.added", "item": empty}
    if item["type"] == "message":
        yield from _text_events(item)
    elif item["type"] == "function_call":
        yield from _argument_events(item)
    yield {"type": "response.output_item.done", "item": item}


_EMPTY: dict[str, Item] = {
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "reasoning": {},
}
"""What an item of that type has when it begins."""


def _text_events(item: Item) -> Iterator[Item]:
    at = {"item_id": item["id"], "content_index": 0}
    (part,) = item["content"]
    text = part["text"]
    yield {"type": "response.content_part.added", **at, "part": _part("")}
    yield {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}


def _argument_events(item: Item) -> Iterator[Item]:
    at, given = {"item_id": item["id"]}, item["arguments"]
    named = {"name": item["name"], "arguments": given}
    yield {"type": "response.function_call_arguments.delta", **at, "delta": given}
    yield {"type": "response.function_call_arguments.done", **at, **named}
