"""A request's body as its members: read once, each value left in its own bytes.

Refused is what two parsers would read in two ways, for the upstream's may be the other one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from latchway.wire.errors import RequestFault

DEPTH_MAX = 128
"""Levels of nesting; real requests have about ten. It is held in what is searched for bindings.
Client's own words and schemas may go as deep as the reader can follow, some hundreds."""

MEMBERS_MAX = 256
"""Of a request; the API knows about forty."""

NAME_CHARACTERS = 512
"""Of a model's name or an id: they go to the log and into look-ups."""

AROUND_MEMBER_BYTES = len(b'"":,')
"""Beside a member's name and value; the last one has no comma."""

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAME_OF_MEMBER = re.compile(rb'[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*")[ \t\r\n]*:[ \t\r\n]*')
_AFTER_MEMBER = re.compile(rb"[ \t\r\n]*([,}])")


def members_of(body: bytes) -> dict[str, msgspec.Raw]:
    """The top-level members in order, values unread but known to be JSON. RequestFault: refused."""
    fields = _read(body)
    _refuse_repeated(body, fields)
    return fields


def _read(body: bytes) -> dict[str, msgspec.Raw]:
    try:
        body.decode()  # a value's bytes are not checked when it is left unread
        fields = _MEMBERS.decode(body)
    except UnicodeDecodeError as fault:
        raise _not_json(f"byte {fault.start} is not UTF-8") from None
    except msgspec.ValidationError:
        raise RequestFault("invalid_request", "The body must be one JSON object.") from None
    except msgspec.DecodeError as fault:
        raise _not_json(_position(str(fault), body)) from None
    except RecursionError:
        text = f"The body is nested too deep; {DEPTH_MAX} levels are enough."
        raise RequestFault("invalid_request", text) from None
    if len(fields) > MEMBERS_MAX:
        text = f"The body has more than {MEMBERS_MAX} fields; send those that the API knows."
        raise RequestFault("invalid_request", text)
    return fields


def _not_json(what: str) -> RequestFault:
    return RequestFault("invalid_json", f"The body is not valid JSON: {what}.")


def _position(fault: str, body: bytes) -> str:
    """The reader's words, with a position also where it has none to say."""
    if "(byte" in fault:
        return fault.removeprefix("JSON is malformed: ")
    return f"it ends too early, or in half a surrogate pair (byte {len(body)} at the latest)"


def _refuse_repeated(body: bytes, fields: Mapping[str, msgspec.Raw]) -> None:
    """Two members of one name are read by some parsers as the first, by others as the last.

    The reader keeps the last, at the first one's place. A body no longer than its members has no
    room for another, and most clients write no blanks. In any other the bytes are walked along
    them: where nothing is repeated, they lie there in that order and nothing follows.
    """
    if len(body) == least_bytes(fields):
        return
    at, after = body.index(b"{") + 1, b"," if fields else b"}"
    for name, raw in fields.items():
        found, start = _name_at(body, at)
        value = bytes(raw)
        ending = _AFTER_MEMBER.match(body, start + len(value))
        if found != name or not body.startswith(value, start) or ending is None:
            raise _repeated(found)
        at, after = ending.end(), ending[1]
    if after == b",":
        raise _repeated(_name_at(body, at)[0])


def least_bytes(fields: Mapping[str, msgspec.Raw]) -> int:
    """Of a body that says these members, each once and without blanks between them: a name takes a
    byte a character or more."""
    values = sum([memoryview(raw).nbytes for raw in fields.values()])
    return len(b"{}") + sum(map(len, fields)) + values + AROUND_MEMBER_BYTES * len(fields) - 1


def _name_at(body: bytes, at: int) -> tuple[str, int]:
    """The name of the member that begins there, and where its value begins."""
    member = _NAME_OF_MEMBER.match(body, at)
    assert member is not None, "valid JSON has a member here"
    return msgspec.json.decode(member[1], type=str), member.end()


def _repeated(name: str) -> RequestFault:
    shown = name[:NAME_CHARACTERS]
    return RequestFault("invalid_request", f"`{shown}` stands there twice; send it once.", shown)
