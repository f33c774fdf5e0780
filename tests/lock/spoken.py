"""What an upstream says in a script, as the bytes that it sends: HTTP/1.1, chunked.

Every event names its attempt in a member of its own, `attempt`, as an upstream may have members
that nobody knows: whatever reaches a client says whose it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from latchway.turn import events as on
from latchway.wire.frame import Answer, Frame, Kind, Note
from latchway.wire.meaning import TERMINAL

CREATED_AT = 1_796_000_000
STATUSES = {
    Kind.LIFECYCLE: "in_progress",
    Kind.COMPLETED: "completed",
    Kind.INCOMPLETE: "incomplete",
    Kind.FAILED: "failed",
}
REASONS = {200: "OK", 302: "Found", 307: "Temporary Redirect"}
ABSURD = {"input_tokens": -1, "output_tokens": 0, "total_tokens": -1}
OUTPUT = [{"type": "message", "role": "assistant", "content": []}]
MISLEADING = "invalid_request_error"
"""Every error's type: the code decides, never the type (R2)."""
COMMENT = b": still here\n\n"
END = b"0\r\n\r\n"


DONE = b"data: [DONE]\n\n"
PAGE = b"<html>Sorry.</html>\n"

BYTEWISE, UNTIL_CLOSE, UNENDED = "bytewise", "until-close", "unended"

Dialect = Callable[[bytes, bytes], bytes]

DIALECTS: dict[str, Dialect] = {
    "usual": lambda name, data: b"event: %b\ndata: %b\n\n" % (name, data),
    "crlf": lambda name, data: b"event: %b\r\ndata: %b\r\n\r\n" % (name, data),
    "nameless": lambda name, data: b"data: %b\n\n" % data,
    "misnamed": lambda name, data: b"event: response.created\ndata: %b\n\n" % data,
    "numbered": lambda name, data: b"id: 7\nevent: %b\ndata: %b\n\n" % (name, data),
    "two-lines": lambda name, data: b"data: %b,\ndata: %b\n\n" % tuple(data.split(b",", 1)),
    "dressed": lambda name, data: b"data: : keepalive\n\ndata: %b\n\n" % data,
}
"""What an event looks like, of this name and with this JSON."""

MANNERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "unnumbered": lambda event: event.pop("sequence_number", None),
    "fractional": lambda event: event.get("response", {}).update(created_at=CREATED_AT + 0.25),
}
"""What real servers' events are like otherwise than OpenAI's, whatever the dialect."""

OPENINGS = {
    "numbered": b"retry: 1000\n\n",
    "dressed": b": PROCESSING\n\n: PROCESSING\n\n",
    "marked": b"\xef\xbb\xbf",
}
"""What stands before the first event."""


class Speaker:
    """One attempt's upstream. `oversized_bytes`: more than an event may have.

    `words`: a dialect, then manners. The dialect is one of the above; `bytewise`: as usual, each
    byte in a read of its own; `until-close`: the body's end is the connection's; `unended`: the
    body ends with its terminal event, which lacks its blank line.
    """

    def __init__(self, *, streamed: bool, oversized_bytes: int = 0, words: str = "usual") -> None:
        self._streamed, self._oversized = streamed, oversized_bytes
        dialect, *manners = words.split()
        self._dialect, self._manners = dialect, [MANNERS[manner] for manner in manners]
        self._write = DIALECTS.get(dialect, DIALECTS["usual"])
        self.headed = False
        self._number = 0
        """Of the next event."""

    def reads(self, event: on.UpstreamEvent) -> list[bytes]:
        """The bytes that stand for an event, as they come; none for what is not said in bytes."""
        reads = self._reads(event)
        if self._dialect == BYTEWISE:
            return [bytes([byte]) for read in reads for byte in read]
        return reads

    def _reads(self, event: on.UpstreamEvent) -> list[bytes]:
        match event:
            case on.Headed():
                return self._head()
            case on.Commented():
                return [*self._head(), self._part(COMMENT)]
            case on.Oversized():
                return [*self._head(), self._part(b"data: " + b"x" * self._oversized)]
            case on.Arrived() if not self._streamed:
                body = self._part(whole(event.attempt, event.frames[0]))
                return [*self._head(), body + self.end]
            case on.Arrived():
                blocks = [self._block(event.attempt, frame) for frame in event.frames]
                if self._dialect == UNENDED and event.frames[-1].kind in TERMINAL:
                    return [*self._head(), self._part(b"".join(blocks)[:-1]) + self.end]
                return [*self._head(), self._part(b"".join(blocks))]
            case on.Answered():
                return [answered(event.answer)]
            case on.Broke():
                return self._last(event.reason)
        return []

    def _last(self, how: str) -> list[bytes]:
        """The end of an answer; a reset has no bytes."""
        if how == "page":
            fields = {"content-type": "text/html", "content-length": str(len(PAGE))}
            return [head(200, fields) + PAGE]
        if how == "done":
            return [*self._head(), self._part(DONE)]
        return [*self._head(), self.end] if how == "ended" else []

    @property
    def end(self) -> bytes:
        """The clean end of a body; without chunks it has no bytes either."""
        return b"" if self._dialect == UNTIL_CLOSE else END

    @property
    def ends_by_closing(self) -> bool:
        return self._dialect == UNTIL_CLOSE

    def _head(self) -> list[bytes]:
        if self.headed:
            return []
        self.headed = True
        kind = "text/event-stream" if self._streamed else "application/json"
        framing = {} if self.ends_by_closing else {"transfer-encoding": "chunked"}
        opening = OPENINGS.get(self._dialect)
        first = head(200, {"content-type": kind, **framing})
        return [first, self._part(opening)] if opening else [first]

    def _part(self, data: bytes) -> bytes:
        return data if self.ends_by_closing else chunk(data)

    def _block(self, attempt: int, frame: Frame) -> bytes:
        """An event of the length that the script says, if it says one."""
        event = _event(attempt, frame, self._number)
        for mannered in self._manners:
            mannered(event)
        self._number += frame.kind is not Kind.NEUTRAL
        if frame.block is not frame.data:
            event["obfuscation"] = ""
            filling = len(frame.block) - len(self._as_block(event))
            assert filling >= 0, f"{event['type']} has {len(frame.block) - filling} bytes at least"
            event["obfuscation"] = "-" * filling
        return self._as_block(event)

    def _as_block(self, event: dict[str, Any]) -> bytes:
        return self._write(event["type"].encode(), _json(event))


def head(status: int, fields: dict[str, str]) -> bytes:
    """A status line and header fields."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Refused')}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def whole(attempt: int, frame: Frame) -> bytes:
    """A result that was not streamed."""
    return _json({**_response(frame), "attempt": attempt})


def answered(answer: Answer) -> bytes:
    """A whole HTTP error answer; without a code its body is a page, if the script says no other."""
    note = answer.note
    if answer.body:
        body, kind = answer.body, "application/json"
    elif note.code is None:
        body, kind = PAGE, "text/html"
    else:
        usage = {} if note.usage is None else {"usage": _usage(note)}
        error = _error(msgspec.structs.replace(note, retry_after=None))
        body, kind = _json({"error": error, **usage}), "application/json"
    fields = {"content-type": kind, "content-length": str(len(body))}
    if 300 <= answer.status <= 399:
        fields["location"] = "http://elsewhere/"
    if note.retry_after is not None:
        fields["retry-after"] = f"{note.retry_after:g}"
    return head(answer.status, fields) + body


def _event(attempt: int, frame: Frame, number: int) -> dict[str, Any]:
    """The JSON of an event; `frame` is the script's."""
    note, name = frame.note or Note(), frame.data.decode().split(" ")[1]
    metered = {"usage": _usage(note)} if note.metered else {}
    if frame.kind is Kind.NEUTRAL:
        return {"type": name, "attempt": attempt, **metered}
    numbered = {"type": name, "sequence_number": number}
    if frame.kind is Kind.ERROR:
        return {**numbered, "error": {**_error(note), "attempt": attempt}, **metered}
    if frame.kind is Kind.OUTPUT:
        return {**numbered, "attempt": attempt, "delta": "-" * frame.text_bytes}
    return {**numbered, "attempt": attempt, "response": _response(frame)}


def _response(frame: Frame) -> dict[str, Any]:
    note = frame.note or Note()
    made: dict[str, Any] = {
        "id": note.response_id,
        "object": "response",
        "created_at": CREATED_AT,
        "status": note.status or STATUSES[frame.kind],
        "model": "m",
    }
    if note.output:
        made["output"] = OUTPUT
    if frame.kind is Kind.FAILED:
        made["error"] = _error(note)
    told = note.usage is not None or note.usage_absurd
    made["usage"] = _usage(note) if told else None
    return made


def _error(note: Note) -> dict[str, Any]:
    """What a code and its marks look like in an error object."""
    error: dict[str, Any] = {
        "type": MISLEADING,
        "code": _code(note.code),
        "message": "Said by the upstream.",
        "param": None,
    }
    if note.retryable is not None:
        error["retryable"] = note.retryable
    if note.retry_after is not None:
        error["retry_after"] = note.retry_after
    return error


def _code(code: str | None) -> str | int | None:
    """A name, or the number that its digits are."""
    return int(code) if code is not None and code.isdecimal() else code


def _usage(note: Note) -> dict[str, int]:
    if note.usage is None:
        return ABSURD
    taken, made = note.usage.input_tokens, note.usage.output_tokens
    return {"input_tokens": taken, "output_tokens": made, "total_tokens": taken + made}


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
