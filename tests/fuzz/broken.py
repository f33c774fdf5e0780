"""Faults put in on purpose, each of a kind that is easily made; the fuzzer must find them all."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from latchway.config.faults import Report
from latchway.wire import bindings, meaning, members, sse, usage
from latchway.wire import request as requests
from latchway.wire.frame import Frame, Kind
from latchway.wire.meaning import frame

_COUNT, _BODY = usage._count, requests.upstream_body


def _a_count_is_any_number(holder: dict[str, Any], name: str) -> int | None:
    value = holder.get(name)
    return abs(value) if type(value) is int else _COUNT(holder, name)


def _encoded_anew(*args: Any, **settings: Any) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(_BODY(*args, **settings)))


def _stripped(data: bytes, block: bytes, name: bytes = b"") -> Frame:
    return frame(data.strip(), block, name)


BROKEN: dict[str, tuple[str, Any]] = {
    "an end that two reads share is missed": ("sse", patch.object(sse, "_OVERLAP", 0)),
    "data is stripped": ("sse", patch.object(sse, "frame", _stripped)),
    "ids pass": ("sse", patch.object(sse, "_NOT_PASSED", (b"retry",))),
    "a queued response is output": (
        "event",
        patch.dict(meaning.KINDS, {"response.queued": Kind.OUTPUT}),
    ),
    "less than nothing is a count": (
        "usage",
        patch.object(usage, "_count", _a_count_is_any_number),
    ),
    "a member is encoded anew": ("request", patch.object(requests, "upstream_body", _encoded_anew)),
    "a file of one account binds nothing": (
        "request",
        patch.object(bindings, "_member_rule", lambda name: None),
    ),
    "a member may come twice": (
        "request",
        patch.object(members, "_refuse_repeated", lambda body, fields: None),
    ),
    "a fault has no line's number": (
        "configuration",
        patch.object(Report, "_nearest_line", lambda report, where: 0),
    ),
}
