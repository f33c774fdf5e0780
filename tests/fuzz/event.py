"""The classifier: total, by the table, never raising; and what is made of an event keeps its bytes.

What is listed here as not output is a second list, from the rule (R4). An event that cannot be
read is output.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from fuzz import texts, usage
from fuzz.dice import Dice
from fuzz.engine import Target
from latchway.serve.frames import valid_text
from latchway.wire import meaning
from latchway.wire.carried import carried, wrap_ws_error
from latchway.wire.errors import TABLE
from latchway.wire.frame import Answer, Frame, Kind

NOT_OUTPUT = {
    "response.created": "lifecycle",
    "response.in_progress": "lifecycle",
    "response.queued": "lifecycle",
    "keepalive": "neutral",
    "ping": "neutral",
    "codex.keepalive": "neutral",
    "codex.rate_limits": "neutral",
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "error": "error",
    "response.error": "error",
}
FAILURES = ("failed", "error")
RESULTS = ("completed", "incomplete")
OUTPUTS = (
    "response.output_text.delta", "response.output_text.delta", "response.output_item.added",
    "response.function_call_arguments.delta", "response.audio.delta", "response.metadata",
    "response.completed ", "Response.created", "response.create", "", "message",
)  # fmt: skip
TYPES = (*NOT_OUTPUT, *OUTPUTS)
TYPE_TEXTS = tuple(f'"{name}"' for name in TYPES)
TEXTS = ('"hi"', '"h\\u00e9"', '"hé"', '"\\ud83d\\ude00"', '"\\ud800"', '""')
CODES = (*(f'"{code}"' for code in TABLE), '"server_is_overloaded"', '"slow_down"', "429", '""')
FLAGS = ("true", "false", "null")
NUMBERS = ("0", "7", "1.5", "-1", "61", "1e999", "null", "1763474589")

ERROR: texts.Fields = {
    "type": TYPE_TEXTS,
    "code": CODES,
    "message": TEXTS,
    "param": TEXTS,
    "retryable": FLAGS,
    "retry_after": NUMBERS,
}
ITEM: texts.Fields = {"type": ('"message"', '"function_call"'), "text": TEXTS, "arguments": TEXTS}
RESPONSE: texts.Fields = {
    "id": ('"resp_1"', '""', "null"),
    "object": ('"response"',),
    "created_at": NUMBERS,
    "model": TEXTS,
    "status": ('"completed"', '"failed"', '"incomplete"', '"in_progress"'),
    "usage": usage.usage,
    "error": lambda dice: texts.record(dice, ERROR),
    "output": lambda dice: texts.listed([texts.record(dice, ITEM)]),
}
EVENT: texts.Fields = {
    "type": TYPE_TEXTS,
    "sequence_number": NUMBERS,
    "delta": TEXTS,
    "response": lambda dice: texts.record(dice, RESPONSE),
    "usage": usage.usage,
    **ERROR,
    "status": ("400", "502", '"x"', "null"),
    "error": lambda dice: texts.record(dice, ERROR),
}
USUAL: texts.Fields = {"type": TYPE_TEXTS, "delta": TEXTS, "response": EVENT["response"]}
FLAT: texts.Fields = {"type": ('"error"', '"response.error"'), **ERROR, "status": ("400", "null")}


def event(dice: Dice) -> str:
    """The JSON of one event."""
    kind = dice.below(10)
    if kind < 6:
        return texts.record(dice, USUAL, odd=0.02, kept=0.85)
    if kind < 8:
        return texts.record(dice, EVENT, kept=0.4)
    if kind < 9:
        return texts.record(dice, dice.pick((FLAT, RESPONSE)))
    return texts.anything(dice)


def make(dice: Dice) -> bytes:
    """The name of an `event:` line, mostly none, and behind it the data."""
    name = dice.pick(TYPES) if dice.chance(0.3) else ""
    return texts.encoded(f"{name}\n{event(dice)}")


def check(data: bytes) -> None:
    name, _, text = data.partition(b"\n")
    block = b"data: " + text
    made = meaning.frame(text, block, name)
    assert made.data is text
    assert made.block is block
    _check_kind(made, name, _as_client_reads(text))
    _check_note(made)
    _check_whole_answer(text)
    _check_as_message(made)
    _check_carried(text)


UNKNOWN = object()
"""Nested too deep, or a number too long, for the second reader."""


def _as_client_reads(text: bytes) -> Any:
    """The JSON as lenient clients read it; a number that is not finite is only a text."""
    try:
        return json.loads(
            text.decode("utf-8", "replace"), parse_constant=str, parse_float=_finite_or_text
        )
    except json.JSONDecodeError:
        return None
    except (ValueError, RecursionError):
        return UNKNOWN


def _finite_or_text(digits: str) -> float | str:
    return float(digits) if math.isfinite(float(digits)) else digits


def _check_kind(made: Frame, name: bytes, said: Any) -> None:
    if said is UNKNOWN:
        return
    if not isinstance(said, dict):
        assert made.kind is Kind.OUTPUT
        assert made.note is None
        return
    typed = said.get("type")
    named = NOT_OUTPUT.get(name.decode("latin-1"), "output")
    kind = NOT_OUTPUT.get(typed, "output") if isinstance(typed, str) else named
    if named in FAILURES and kind not in (*FAILURES, *RESULTS):
        kind = named
    assert made.kind.value == kind
    _check_text(made, said)
    _check_usage(made, said)


def _check_text(made: Frame, said: dict[str, Any]) -> None:
    delta = said.get("delta")
    is_text = made.kind is Kind.OUTPUT and said.get("type") != "response.audio.delta"
    if made.kind.value in RESULTS and made.note is not None and made.note.usage is None:
        response = said.get("response")
        whole = response.get("output") if isinstance(response, dict) else None
        assert made.text_bytes == _text_in(whole)
    elif not isinstance(delta, str) or not is_text:
        assert made.text_bytes == 0
    elif delta.isascii():
        assert made.text_bytes == len(delta)
    else:
        assert made.text_bytes >= len(delta) // 2


TEXTS = ("text", "arguments", "refusal", "summary", "input", "code")


def _text_in(value: Any) -> int:
    """The bytes of an answer's text, wherever it stands in its output."""
    if isinstance(value, list):
        return sum(map(_text_in, value))
    if not isinstance(value, dict):
        return 0
    own = (value[name] for name in TEXTS if isinstance(value.get(name), str))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in own) + sum(
        map(_text_in, value.values())
    )


def _check_usage(made: Frame, said: dict[str, Any]) -> None:
    """Metered in an event is metered in its frame, whatever kind it is of (R1.3)."""
    response = said.get("response")
    inner = response.get("usage") if isinstance(response, dict) else None
    objects = [one for one in (inner, said.get("usage")) if one is not None]
    assert made.metered == any(
        usage.impossible(one) or usage.counts_something(one) for one in objects
    )


def _check_note(made: Frame) -> None:
    note = made.note
    assert note is not None or made.kind is Kind.OUTPUT
    if note is None:
        return
    if note.usage is not None:
        usage.assert_true(note.usage)
    for number in (note.created_at, note.retry_after):
        assert number is None or (number >= 0 and math.isfinite(number))
    for text in (note.response_id, note.model, note.status, note.code):
        assert text is None or text.encode()
    assert note.error is None or made.kind.value in FAILURES


def _check_whole_answer(body: bytes) -> None:
    plain, streamed = meaning.whole_answer(body, False), meaning.whole_answer(body, True)
    assert (plain is None) == (streamed is None)
    if plain is None or streamed is None:
        return
    assert plain.block is body
    assert plain.kind is streamed.kind
    assert b"\n" not in streamed.data
    assert b"\r" not in streamed.data
    assert streamed.block.endswith(b"\ndata: " + streamed.data + b"\n\n")
    assert meaning.frame(streamed.data, b"").kind is streamed.kind


def _check_as_message(made: Frame) -> None:
    """On a WebSocket an event is UTF-8, its own bytes if they are; an error has a status."""
    text = valid_text(made.data)
    assert _is_utf8(text)
    assert text == made.data or not _is_utf8(made.data)
    if made.kind is Kind.ERROR:
        wrapped = wrap_ws_error(made, "req_1", False)
        if wrapped is not made.data:
            _check_error(json.loads(wrapped.decode("ascii")), "error")


def _check_carried(body: bytes) -> None:
    status, error = carried(Answer(500, body, note=meaning.answer_note(body)), True)
    assert 400 <= status <= 599
    _check_error({"status": status, "error": json.loads(msgspec.json.encode(error))}, None)


def _check_error(message: dict[str, Any], typed: str | None) -> None:
    assert message.get("type") == typed
    assert type(message["status"]) is int
    assert isinstance(message["error"]["message"], str)
    assert isinstance(message["error"]["retryable"], bool)
    assert {"code", "param", "type", "retry_after"} <= message["error"].keys()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


TARGET = Target("event", make, check, inputs=250_000)
