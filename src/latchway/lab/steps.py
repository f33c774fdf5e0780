"""The steps of a reply: one row for each short form, with what reads and checks its value."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from latchway.lab.events import ERROR_FIELDS, USAGE_FIELDS
from latchway.lab.reading import Node, suggestion
from latchway.lab.script import (
    Close,
    End,
    Ending,
    Event,
    Line,
    Ping,
    Raw,
    Repeat,
    Reset,
    Silence,
    Step,
    Wait,
)

MAX_SECONDS = 86_400.0
"""A wait of a script: a day. Who means for ever says `silence`."""
MAX_TIMES = 1_000_000
"""Rounds of one `repeat`; a million small events is more than any buffer in between can take."""
MAX_NESTING = 4
"""`repeat` within `repeat`; four of them outlast any test."""
MAX_CONTROL_BYTES = 123
"""Reason of a close frame, data of a ping: RFC 6455 5.5 allows 125, a close code takes two."""

MAX_COUNT = 1 << 62
"""Tokens that a script can claim, absurd ones included; JSON readers with 64 bits can take it."""

COUNTS = frozenset(USAGE_FIELDS) - {"usage"}
CLOSE_CODES = frozenset({1000, 1001, 1002, 1003, *range(1007, 1015), *range(3000, 5000)})
"""Codes that RFC 6455 7.4 lets go over the wire."""


def read_steps(node: Node, depth: int = 0) -> tuple[Step, ...]:
    return tuple(_step(item, depth) for item in node.items())


def _step(node: Node, depth: int) -> Step:
    """A word (`silence`), a mapping of one short form, or a whole event with its `type`."""
    if isinstance(node.value, str):
        return _named(node, node.value, node.without_value(), depth)
    if isinstance(node.value, dict) and "type" in node.value:
        return Event("event", node.plain())
    entries = node.entries()
    if len(entries) != 1:
        if isinstance(node.value, dict):
            node.fault("a step has one key, or is a whole event with its type")
        return Silence()
    ((name, value),) = entries.items()
    return _named(node, name, value, depth)


def _named(node: Node, name: str, value: Node, depth: int) -> Step:
    if name == "repeat":
        return _repeat(value, depth)
    if name not in STEPS:
        node.fault(f"{name!r} is no step; {suggestion(name, (*STEPS, 'repeat'))}")
        return Silence()
    return STEPS[name](value)


def _repeat(node: Node, depth: int) -> Step:
    fields = node.fields(("times", "events"))
    if depth >= MAX_NESTING:
        node.fault(f"repeat within repeat: {MAX_NESTING} deep at most")
        return Silence()
    if len(fields) < 2:
        node.fault("needs times and events")
        return Silence()
    return Repeat(fields["times"].whole(1, MAX_TIMES), read_steps(fields["events"], depth + 1))


def _word(step: Step) -> Callable[[Node], Step]:
    def read(node: Node) -> Step:
        if node.value is not None and node.value is not True:
            node.fault("takes no value")
        return step

    return read


def _said(form: str) -> Callable[[Node], Step]:
    return lambda node: Event(form, node.text())


def _created(node: Node) -> Step:
    return Event("created", None if node.value is None else node.text())


def _result(form: str, *more: str) -> Callable[[Node], Step]:
    def read(node: Node) -> Step:
        if node.value is None:
            return Event(form, None)
        return Event(form, _known(node, (*USAGE_FIELDS, *more)))

    return read


def _failure(form: str, *more: str) -> Callable[[Node], Step]:
    def read(node: Node) -> Step:
        if isinstance(node.value, str):
            return Event(form, {"code": node.text()})
        if not isinstance(node.value, dict):
            node.fault("must be a code or a mapping with code")
            return Event(form, {})
        return Event(form, _known(node, (*ERROR_FIELDS, *more)))

    return read


def _known(node: Node, allowed: tuple[str, ...]) -> dict[str, Any]:
    return {name: _field(name, value) for name, value in node.fields(allowed).items()}


def _field(name: str, node: Node) -> Any:
    if name == "status":
        return node.whole(100, 599)
    if name in COUNTS:
        return node.whole(-MAX_COUNT, MAX_COUNT)
    return node.plain()


def _bytes(node: Node) -> bytes:
    if not isinstance(node.value, dict):
        return node.text().encode("utf-8", "surrogatepass")
    fields = node.fields(("base64",))
    if "base64" not in fields:
        node.fault("must be a text, or base64: …")
        return b""
    try:
        return base64.b64decode(fields["base64"].text(), validate=True)
    except binascii.Error as error:
        fields["base64"].fault(f"is no base64: {error}")
        return b""


def _line(prefix: str) -> Callable[[Node], Step]:
    def read(node: Node) -> Step:
        text = "" if node.value is None else node.text()
        if "\n" in text or "\r" in text:
            node.fault("must be one line; say several with raw")
        return Line(f"{prefix} {text}")

    return read


def _close(node: Node) -> Step:
    if not isinstance(node.value, dict):
        return Close(_close_code(node))
    fields = node.fields(("code", "reason"))
    if "code" not in fields:
        node.fault("needs code")
        return Close(1000)
    reason = fields["reason"].text() if "reason" in fields else ""
    if len(reason.encode()) > MAX_CONTROL_BYTES:
        node.fault(f"its reason may have {MAX_CONTROL_BYTES} bytes")
    return Close(_close_code(fields["code"]), reason)


def _close_code(node: Node) -> int:
    code = node.whole(1000, 4999)
    if code not in CLOSE_CODES:
        node.fault(f"{code} is never sent; end: cut closes without a close frame")
    return code


def _ping(node: Node) -> Step:
    data = b"" if node.value is None else _bytes(node)
    if len(data) > MAX_CONTROL_BYTES:
        node.fault(f"may have {MAX_CONTROL_BYTES} bytes")
    return Ping(data)


STEPS: dict[str, Callable[[Node], Step]] = {
    "event": lambda node: Event("event", {k: v.plain() for k, v in node.entries().items()}),
    "created": _created,
    "in_progress": _word(Event("in_progress", None)),
    "queued": _word(Event("queued", None)),
    "keepalive": _word(Event("keepalive", None)),
    "item": _word(Event("item", None)),
    "text": _said("text"),
    "item_done": _word(Event("item_done", None)),
    "say": _said("say"),
    "echo": _word(Event("echo", None)),
    "completed": _result("completed"),
    "incomplete": _result("incomplete", "reason"),
    "failed": _failure("failed", *USAGE_FIELDS),
    "error": _failure("error", "status", "flat"),
    "raw": lambda node: Raw(_bytes(node)),
    "binary": lambda node: Raw(_bytes(node), binary=True),
    "comment": _line(":"),
    "data": _line("data:"),
    "done": _word(Line("data: [DONE]")),
    "wait": lambda node: Wait(node.seconds(MAX_SECONDS)),
    "silence": _word(Silence()),
    "reset": _word(Reset()),
    "end": lambda node: End(node.choice({how.value: how for how in Ending}, Ending.CLEAN)),
    "close": _close,
    "ping": _ping,
}
"""Every step but `repeat`, with what reads its value."""
