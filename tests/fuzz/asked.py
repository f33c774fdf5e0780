"""Requests: refused in one way only, never bound too little, and their members keep their bytes.

Two opinions of what binds: a short list of fields that bind wherever they stand, looked for by
plain recursion; and every request with one of them added, which must be bound then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fuzz import texts
from fuzz.dice import Dice
from fuzz.engine import Target, chosen
from latchway.turn.events import Binding
from latchway.wire import request as requests
from latchway.wire.errors import TABLE
from latchway.wire.members import NAME_CHARACTERS
from latchway.wire.request import Request, RequestFault

TEXTS = ('"hi"', '"h\\u00e9"', '"é"', '"{\\"file_id\\":\\"f\\"}"', '""', '"input_text"')
IDS = ('"x_1"', '"x_1"', '""', "null")
FLAGS = ("true", "false", "null")
MODELS = ('"m"', '"m"', '"m"', '"é"', '""', "null")
PART: texts.Fields = {
    "type": ('"input_text"', '"output_text"', '"input_image"', '"input_file"', '"refusal"'),
    "text": TEXTS,
    "file_id": IDS,
    "image_url": ('"data:image/png;base64,AA"', '"https://a.example/x.png"'),
    "annotations": ("[]", "[{}]", '[{"container_id":"c"}]'),
}
USUAL_PART: texts.Fields = {"type": ('"input_text"',), "text": TEXTS}


def _content(dice: Dice) -> str:
    parts = [texts.record(dice, dice.pick((USUAL_PART, PART))) for _ in range(dice.below(3))]
    return texts.listed(parts) if dice.chance(0.7) else dice.pick(TEXTS)


ITEM: texts.Fields = {
    "type": (
        '"message"', '"message"', '"function_call"', '"function_call_output"', '"reasoning"',
        '"item_reference"', '"compaction"', '"mcp_approval_response"', '"mcp_call"',
    ),
    "id": IDS,
    "role": ('"user"', '"assistant"'),
    "status": ('"completed"',),
    "content": _content,
    "call_id": IDS,
    "name": TEXTS,
    "arguments": TEXTS,
    "output": _content,
    "encrypted_content": IDS,
    "approval_request_id": IDS,
}  # fmt: skip
MESSAGE: texts.Fields = {"type": ('"message"',), "role": ('"user"',), "content": _content}
SCHEMA = ('{"type":"object","properties":{"file_id":{"type":"string"}}}', "{}", "null")
TOOL: texts.Fields = {
    "type": ('"function"', '"mcp"', '"code_interpreter"', '"file_search"', '"shell"', '"new"'),
    "name": TEXTS,
    "parameters": SCHEMA,
    "strict": FLAGS,
    "format": ('{"type":"text"}', '{"type":"grammar","syntax":"lark","definition":"x"}'),
    "container": ('"cntr_1"', '{"type":"auto"}', '{"type":"auto","file_ids":["f"]}'),
    "vector_store_ids": ("[]", '["vs_1"]'),
    "authorization": IDS,
    "headers": ("{}", '{"a":"b"}', "null"),
}
FUNCTION: texts.Fields = {
    name: TOOL[name] for name in ("name", "parameters", "strict", "format")
} | {"type": ('"function"', '"custom"', '"namespace"')}


def _items(dice: Dice) -> str:
    if dice.chance(0.4):
        return dice.pick(TEXTS)
    return texts.listed(
        [texts.record(dice, dice.pick((MESSAGE, ITEM)), kept=0.5) for _ in range(dice.few())]
    )


def _tools(dice: Dice) -> str:
    return texts.listed(
        [texts.record(dice, dice.pick((FUNCTION, TOOL))) for _ in range(dice.below(3))]
    )


BODY: texts.Fields = {
    "model": MODELS,
    "input": _items,
    "tools": _tools,
    "stream": FLAGS,
    "store": FLAGS,
    "instructions": TEXTS,
    "metadata": ('{"file_id":"f"}', "{}", "null"),
    "text": ('{"format":{"type":"json_schema","name":"n","schema":{"file_id":1}}}', "null"),
    "temperature": ("0.50", "1", "1E0", "0.1000"),
    "max_output_tokens": ("16", "0", "null"),
    "previous_response_id": IDS,
    "conversation": ('"conv_1"', '{"id":"conv_1"}', "{}", "null", "null"),
    "background": FLAGS,
    "prompt": ('{"id":"p"}', "null"),
    "client_metadata": ('{"x-codex-turn-state":"s"}', "{}"),
    "type": ('"response.create"',),
    "generate": FLAGS,
    "stream_id": ('"lane"', "null"),
}
PLAIN: texts.Fields = {
    name: BODY[name] for name in ("stream", "input", "tools", "store", "temperature")
}


def body(dice: Dice) -> str:
    """The text of a request; nearly all have a model."""
    rest = texts.record(dice, PLAIN if dice.chance(0.5) else BODY, odd=0.02, kept=0.4)
    model = f'"model":{dice.pick(MODELS)}' if dice.chance(0.97) else '"x":1'
    return "{" + model + ("," if rest.strip("{} \r\n\t") else "") + rest.lstrip()[1:]


def make(dice: Dice) -> bytes:
    return texts.encoded(body(dice))


SETTINGS = [
    (omitted, default)
    for omitted in ("provider", "false", "stateless")
    for default in (True, False)
]


def check(data: bytes) -> None:
    dice = chosen(data)
    websocket = dice.chance(0.5)
    request = _parsed(data, websocket)
    if request is None:
        return
    assert request.body is data
    for omitted, default in SETTINGS:
        requests.bound_by_encrypted_only(request, store_when_omitted=omitted, store_default=default)
    _check_upstream_body(dice, request)
    said = _read_second(data)
    if said is not None:
        _check_scalars(request, said)
        _check_bound(request, said)
        _check_bound_when_added(dice, said, websocket)


def _parsed(data: bytes, websocket: bool) -> Request | None:
    """The request, or None if it is refused, as it should be: a code, and what is wrong."""
    try:
        return requests.parse(data, websocket=websocket)
    except RequestFault as fault:
        _check_refusal(fault)
    return None


def _check_refusal(fault: RequestFault) -> None:
    assert TABLE[fault.code].status == 400
    assert len(str(fault)) > len("It is wrong.")
    assert fault.param is None or len(fault.param) <= NAME_CHARACTERS


def binding(request: Request) -> Binding:
    """Where nothing is stored: what else binds is seen."""
    return requests.binding_of(request, store_when_omitted="stateless", store_default=True)


# ---- second opinions


def _read_second(data: bytes) -> dict[str, Any] | None:
    """The body as another reader has it; None where that one gives up."""
    try:
        said = json.loads(data, object_pairs_hook=_told_apart)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError):  # a number too long for it; nested too deep
        return None
    assert isinstance(said, _Members)
    assert not said.repeated, f"twice: {said.repeated}"
    return said


class _Members(dict[str, Any]):
    """A JSON object that remembers whether a name came twice."""

    repeated: bool = False


def _told_apart(pairs: list[tuple[str, Any]]) -> _Members:
    members = _Members(pairs)
    members.repeated = len(members) < len(pairs)
    return members


def _check_scalars(request: Request, said: dict[str, Any]) -> None:
    assert request.model == said["model"]
    assert request.store is said.get("store")
    assert request.previous_response_id == said.get("previous_response_id")
    assert request.max_output_tokens == said.get("max_output_tokens")
    assert request.streamed == (request.websocket or said.get("stream") is True)
    assert request.background == (said.get("background") is True)


BINDS = {
    "file_id": "file_1",
    "vector_store_ids": ["vs_1"],
    "container_id": "cntr_1",
    "connector_id": "connector_x",
    "authorization": "secret",
    "encrypted_content": "gAAAA",
    "approval_request_id": "mcpr_1",
}
"""Members that bind where they stand, whatever they stand in."""

OWN_WORDS = (
    "metadata", "client_metadata", "text", "include", "previous_response_id", "conversation",
)  # fmt: skip
SCHEMAS = ("parameters", "schema", "input_schema", "output_schema")


def _objects(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every object within the request that is not the client's own words or schema."""
    waiting: list[Any] = [value for name, value in said.items() if name not in OWN_WORDS]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            schemas = SCHEMAS if "name" in value else ()
            waiting += [member for name, member in value.items() if name not in schemas]


def _check_bound(request: Request, said: dict[str, Any]) -> None:
    found = any(each.get(name) for each in _objects(said) for name in BINDS)
    continued = said.get("previous_response_id") or said.get("conversation")
    if said.get("store"):
        assert binding(request) is Binding.STORED
    elif continued:
        assert binding(request) is Binding.CONTINUATION
    elif found or said.get("background") or said.get("prompt"):
        assert binding(request) is Binding.ORIGIN_BOUND


def _check_bound_when_added(dice: Dice, said: dict[str, Any], websocket: bool) -> None:
    """The same request with one thing more that binds, somewhere in it."""
    said = {**said, "input": said["input"] if isinstance(said.get("input"), list) else [{}]}
    name = dice.pick(list(BINDS))
    places = [*_objects(said), {}]
    added = dice.pick(places)
    if added is places[-1]:
        said["input"] = [*said["input"], {"type": "message", "content": [added]}]
    added[name] = BINDS[name]
    request = _parsed(json.dumps(said).encode(), websocket)
    assert request is None or binding(request) is not Binding.STATELESS


# ---- bytes


def _check_upstream_body(dice: Dice, request: Request) -> None:
    """Every member but those that must change has its own bytes, in its own place."""
    model = dice.pick((request.model, "other"))
    omitted, drop = dice.pick(SETTINGS)[0], dice.pick(((), ("temperature", "metadata")))
    sent = requests.upstream_body(
        request, model=model, store_when_omitted=omitted, drop_fields=drop
    )
    came, went = _members(request.body), _members(sent)
    gone = {*drop, "generate", *(("type", "stream_id") if request.websocket else ())}
    changed = {"stream"} if request.websocket else set()
    changed |= {"model"} if model != request.model else set()
    changed |= {"store"} if request.store is None and omitted == "false" else set()
    assert gone.isdisjoint(went)
    assert went.get("model") == came["model"] or went["model"] == b'"other"'
    assert not request.websocket or went["stream"] == b"true"
    assert "store" not in changed or went["store"] == b"false"
    kept = {name: value for name, value in came.items() if name not in gone | changed}
    assert {name: value for name, value in went.items() if name not in changed} == kept
    order = [name for name in came if name not in gone]
    assert list(went)[: len(order)] == order
    assert changed or not gone.isdisjoint(came) or sent is request.body


_DECODE = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


def _members(body: bytes) -> dict[str, bytes]:
    """The bytes of each member's value, found by another reader; empty where that one gives up."""
    text = body.decode()
    members: dict[str, bytes] = {}
    at = _after_space(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = _DECODE(text, at)
        start = _after_space(text, _after_space(text, at) + 1)
        at = _value_end(text, start)
        members[name] = text[start:at].encode()
        at = _after_space(text, at)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return members


def _value_end(text: str, start: int) -> int:
    """Where the value ends; by its brackets alone, for it may be nested without end."""
    if text[start] not in "{[":
        return int(_DECODE(text, start)[1]) if text[start] == '"' else _word_end(text, start)
    at, depth = start, 0
    while True:
        if text[at] == '"':
            at = _DECODE(text, at)[1]
            continue
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
        if not depth:
            return at


def _word_end(text: str, at: int) -> int:
    while text[at] not in ",}" + _SPACE:
        at += 1
    return at


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


TARGET = Target("request", make, check, inputs=200_000)
