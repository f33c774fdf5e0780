"""Faults put in on purpose, each of a kind that is easily made; the fuzzer must find them all."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from latchway.config.faults import Report
from latchway.serve.creates import Queue
from latchway.serve.messages import Messages
from latchway.serve.socket_turn import SocketClient
from latchway.turn.commands import Deliver
from latchway.wire import bindings, meaning, members, sse, usage
from latchway.wire import request as requests
from latchway.wire.frame import Frame, Kind
from latchway.wire.meaning import frame

_COUNT, _BODY, _FEED = usage._count, requests.upstream_body, Messages.feed


def _any_number(holder: dict[str, Any], name: str) -> int | None:
    value = holder.get(name)
    return abs(value) if type(value) is int else _COUNT(holder, name)


def _encoded_anew(*args: Any, **settings: Any) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(_BODY(*args, **settings)))


def _stripped(data: bytes, block: bytes, name: bytes = b"") -> Frame:
    return frame(data.strip(), block, name)


def _errors_too(client: SocketClient, command: Deliver) -> None:
    """As over HTTP: of a pair both."""
    client._send(
        [each.data for each in command.frames for _ in range(1 + (each.kind is Kind.FAILED))]
    )


def _ping_ends(messages: Messages, each: Any) -> Any:
    """A control frame between two fragments is taken for the end of the first."""
    if each.opcode >= 8:
        messages._data.clear()
    return _FEED(messages, each)


BROKEN: dict[str, tuple[str, Any]] = {
    "an end that two reads share is missed": ("sse", patch.object(sse, "_OVERLAP", 0)),
    "data is stripped": ("sse", patch.object(sse, "frame", _stripped)),
    "ids pass": ("sse", patch.object(sse, "_NOT_PASSED", (b"retry",))),
    "the whole is copied with each read": (
        "sse",
        patch.object(sse.Parser, "_may_end", lambda *_: True),
    ),
    "queued is output": ("event", patch.dict(meaning.KINDS, {"response.queued": Kind.OUTPUT})),
    "less than nothing is a count": ("usage", patch.object(usage, "_count", _any_number)),
    "no number is too large": ("usage", patch.object(usage, "MAX_TOKENS", 1 << 70)),
    "a member is encoded anew": ("request", patch.object(requests, "upstream_body", _encoded_anew)),
    "ids bind nothing": ("request", patch.object(bindings, "_member_rule", lambda name: None)),
    "twice is once": ("request", patch.object(members, "_refuse_repeated", lambda *_: None)),
    "a fault has no line": ("configuration", patch.object(Report, "_nearest_line", lambda *_: 0)),
    "what waits is forgotten": ("websocket", patch.object(Queue, "put", lambda *_: True)),
    "a failure is told twice": ("websocket", patch.object(SocketClient, "deliver", _errors_too)),
    "a ping ends a message": ("websocket", patch.object(Messages, "feed", _ping_ends)),
}
"""By what is wrong: the target that must find it, and what puts it in."""
