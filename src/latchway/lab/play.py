"""From a reply to what is done on the wire: pure, so that a script's bytes can be read in a test.

A generator of actions for each transport; whoever carries them out stops where the other side
leaves. An HTTP answer starts with `Head`; a `Put` after it is framed as the head says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from latchway.lab.asked import Asked
from latchway.lab.events import TERMINAL, Composer, JsonEvent
from latchway.lab.script import (
    Body,
    Close,
    End,
    Ending,
    Event,
    Framing,
    Line,
    Ping,
    Raw,
    Repeat,
    Reply,
    Reset,
    Silence,
    Step,
    Wait,
)

LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Head:
    """The status line and the headers. `framing`: of what follows."""

    data: bytes
    framing: Framing


@dataclass(frozen=True, slots=True)
class Put:
    """Bytes of a body; over a WebSocket the `message`, None: nothing is sent there."""

    body: bytes
    message: bytes | None
    binary: bool = False


Action = Head | Put | Wait | Silence | Reset | End | Close | Ping

BREAKS = (Silence, Reset, Close)


@dataclass(frozen=True, slots=True)
class Part:
    """One call's share of the script: the reply, what was asked, and the values it cannot know.

    `response_id`: unless the script names one. `created_at`: Unix time in whole seconds.
    """

    reply: Reply
    asked: Asked
    response_id: str
    created_at: int


def http_actions(part: Part) -> Iterator[Action]:
    """An HTTP answer. When the actions run out the body ends as its framing says."""
    reply = part.reply
    if not part.asked.streamed and reply.body is None and _is_of_events(reply):
        return _whole_answer(part)
    return _stream(part)


def websocket_actions(part: Part) -> Iterator[Action]:
    """A turn on an open WebSocket. When the actions run out it waits for the next message."""
    reply = part.reply
    if reply.head_delay:
        yield Wait(reply.head_delay)
    if reply.body is not None or reply.status != HTTPStatus.OK:
        yield Put(b"", _dump(_wrapped(reply)) if reply.status != 200 else _body(reply.body))
        return
    yield from _played(part)
    if not reply.head:
        yield Reset()


def handshake_actions(part: Part) -> Iterator[Action] | None:
    """A WebSocket's handshake that the reply refuses, as an HTTP answer; None: it does not."""
    if part.reply.status == HTTPStatus.OK and part.reply.head:
        return None
    return _stream(part)


def framed(framing: Framing | None, data: bytes) -> bytes:
    """The bytes of one write."""
    if framing is Framing.CHUNKED:
        return b"%x\r\n%b\r\n" % (len(data), data)
    return data


def pieces(data: bytes, size: int | None) -> Iterator[bytes]:
    """`data` in writes of `size` bytes; None: in one."""
    step = size or max(len(data), 1)
    return (data[at : at + step] for at in range(0, len(data), step))


# ---- HTTP


def _stream(part: Part) -> Iterator[Action]:
    reply = part.reply
    if reply.head_delay:
        yield Wait(reply.head_delay)
    if reply.head:
        framing = reply.framing or (Framing.CHUNKED if reply.body is None else Framing.LENGTH)
        length = _length(_content(part)) if framing is Framing.LENGTH else 0
        kind = "text/event-stream" if reply.body is None else _body_type(reply.body)
        yield _head(reply, reply.status, framing, kind, length)
    yield from _content(part)
    if not reply.head:
        yield Reset()


def _content(part: Part) -> Iterator[Action]:
    if part.reply.body is not None:
        data = _body(part.reply.body)
        yield Put(data, data)
    else:
        yield from _played(part)


def _length(actions: Iterable[Action]) -> int:
    """The declared length: one byte more than there is if the script breaks the body off."""
    total = 0
    for action in actions:
        if action == End(Ending.CLEAN):
            return total
        if isinstance(action, Put):
            total += len(action.body)
        elif isinstance(action, BREAKS) or action == End(Ending.CUT):
            return total + 1
    return total


def _head(reply: Reply, status: int, framing: Framing, kind: str, length: int) -> Head:
    own = {"content-type": kind}
    if framing is Framing.CHUNKED:
        own["transfer-encoding"] = "chunked"
    elif framing is Framing.LENGTH:
        own["content-length"] = str(length)
    else:
        own["connection"] = "close"
    given = {name.lower() for name, _ in reply.headers}
    headers = [(name, value) for name, value in own.items() if name not in given]
    headers += [(name, value) for name, value in reply.headers if value is not None]
    lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{n}: {v}" for n, v in headers)]
    return Head("\r\n".join([*lines, "", ""]).encode("ascii"), framing)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unnamed"


def _body(body: Body | None) -> bytes:
    value = None if body is None else body.value
    return value.encode() if isinstance(value, str) else _dump(value)


def _body_type(body: Body) -> str:
    return "text/plain; charset=utf-8" if isinstance(body.value, str) else "application/json"


# ---- an answer that is not streamed


def _is_of_events(reply: Reply) -> bool:
    """Only a reply of nothing but events can be told as one JSON body; others go as written."""
    own = reply.status == HTTPStatus.OK and reply.head and bool(reply.steps)
    return own and not any(isinstance(step, Raw | Line | Repeat) for step in reply.steps)


def _whole_answer(part: Part) -> Iterator[Action]:
    """The response of the terminal event, once the script has come to it; nothing before it."""
    reply = part.reply
    if reply.head_delay:
        yield Wait(reply.head_delay)
    for action, event in _composed(part, reply.steps, _composer(part)):
        if event is None:
            yield action
        elif event.get("type") in TERMINAL:
            yield from _json_answer(reply, event)
            return
    yield End(Ending.CUT)


def _json_answer(reply: Reply, event: JsonEvent) -> Iterator[Action]:
    status, value = reply.status, event.get("response", {})
    if event["type"] == "error":
        status, value = int(event.get("status", 500)), {"error": event.get("error", event)}
    data = _dump(value)
    yield _head(reply, status, Framing.LENGTH, "application/json", len(data))
    yield Put(data, data)


# ---- steps


def _played(part: Part) -> Iterator[Action]:
    return (action for action, _ in _composed(part, part.reply.steps, _composer(part)))


def _composer(part: Part) -> Composer:
    return Composer(part.asked, part.response_id, part.created_at)


def _composed(
    part: Part, steps: tuple[Step, ...], composer: Composer
) -> Iterator[tuple[Action, JsonEvent | None]]:
    """The actions of the steps, each with the event that it is made of, if it is."""
    for step in steps:
        if isinstance(step, Repeat):
            for _ in range(step.times):
                yield from _composed(part, step.steps, composer)
        elif isinstance(step, Event):
            yield from _events(part.reply, step, composer)
        else:
            yield _plain(step, _eol(part.reply)), None


def _events(
    reply: Reply, step: Event, composer: Composer
) -> Iterator[tuple[Action, JsonEvent | None]]:
    for event in composer.events(step.form, step.value):
        if reply.delay:
            yield Wait(reply.delay), None
        message = _dump(event)
        yield Put(_block(event, message, _eol(reply)), message), event


def _plain(step: Raw | Line | Wait | Silence | Reset | End | Close | Ping, eol: bytes) -> Action:
    if isinstance(step, Raw):
        return Put(step.data, step.data, step.binary)
    if isinstance(step, Line):
        return Put(step.text.encode() + eol * 2, None)
    return step


def _block(event: JsonEvent, message: bytes, eol: bytes) -> bytes:
    """An event's lines. Without a `type` there is nothing that an `event:` line could name."""
    kind = event.get("type")
    named = f"event: {kind}".encode() + eol if isinstance(kind, str) else b""
    return named + b"data: " + message + eol * 2


def _eol(reply: Reply) -> bytes:
    return b"\r\n" if reply.crlf else b"\n"


def _wrapped(reply: Reply) -> JsonEvent:
    """An HTTP error as a frame on a socket that is already open."""
    value: Any = None if reply.body is None else reply.body.value
    if isinstance(value, dict):
        return {"type": "error", "status": reply.status, **value}
    error = {"message": str(value or _phrase(reply.status)), "code": None}
    return {"type": "error", "status": reply.status, "error": error}


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
