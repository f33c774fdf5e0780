"""What an upstream says in a script, as the bytes that it sends: HTTP/1.1, chunked.

Every event names its attempt in a member of its own, `attempt`, as an upstream may have members
that nobody knows: whatever reaches a client says whose it is.
"""

from __future__ import annotations

import json
from typing import Any

from latchway.turn import events as on
from latchway.wire.frame import Answer, Frame, Kind, Note

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
COMMENT = b": still here\n\n"
END = b"0\r\n\r\n"


class Speaker:
    """One attempt's upstream. `oversized_bytes`: more than an event may have."""

    def __init__(self, *, streamed: bool, oversized_bytes: int) -> None:
        self._streamed, self._oversized = streamed, oversized_bytes
        self._headed = False
        self._number = 0
        """Of the next event."""

    @property
    def headed(self) -> bool:
        return self._headed

    def reads(self, event: on.UpstreamEvent) -> list[bytes]:
        """The bytes that stand for an event, as they come; none for what is not said in bytes."""
        match event:
            case on.Headed():
                return self._head()
            case on.Commented():
                return [*self._head(), chunk(COMMENT)]
            case on.Oversized():
                return [*self._head(), chunk(b"data: " + b"x" * self._oversized)]
            case on.Arrived() if not self._streamed:
                return [*self._head(), chunk(whole(event.attempt, event.frames[0])) + END]
            case on.Arrived():
                blocks = [self._block(event.attempt, frame) for frame in event.frames]
                return [*self._head(), chunk(b"".join(blocks))]
            case on.Answered():
                return [answered(event.answer)]
        return []

    def _head(self) -> list[bytes]:
        if self._headed:
            return []
        self._headed = True
        kind = "text/event-stream" if self._streamed else "application/json"
        return [head(200, {"content-type": kind, "transfer-encoding": "chunked"})]

    def _block(self, attempt: int, frame: Frame) -> bytes:
        """An event of the length that the script says, if it says one."""
        event = _event(attempt, frame, self._number)
        self._number += frame.kind is not Kind.NEUTRAL
        block = _as_block(event)
        if frame.block is frame.data:
            return block
        filling = len(frame.block) - len(_as_block({**event, "obfuscation": ""}))
        assert filling >= 0, f"{event['type']} has {len(block)} bytes at least"
        return _as_block({**event, "obfuscation": "-" * filling})


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
    """A whole HTTP error answer; without a code its body is a page."""
    note = answer.note
    if note.code is None:
        body, kind = b"<html>Sorry.</html>\n", "text/html"
    else:
        usage = {} if note.usage is None else {"usage": _usage(note)}
        body, kind = _json({"error": _error(note), **usage}), "application/json"
    fields = {"content-type": kind, "content-length": str(len(body))}
    if 300 <= answer.status <= 399:
        fields["location"] = "http://elsewhere/"
    if note.retry_after is not None:
        fields["retry-after"] = f"{note.retry_after:g}"
    return head(answer.status, fields) + body


def _event(attempt: int, frame: Frame, number: int) -> dict[str, Any]:
    """The JSON of an event; `frame` is the script's."""
    note, name = frame.note or Note(), frame.data.decode().split(" ")[1]
    if frame.kind is Kind.NEUTRAL:
        return {"type": name, "attempt": attempt}
    numbered = {"type": name, "sequence_number": number}
    if frame.kind is Kind.ERROR:
        error = {**_error(note), "attempt": attempt}
        return {**numbered, "error": error, **({"usage": _usage(note)} if note.metered else {})}
    if frame.kind is Kind.OUTPUT:
        return {**numbered, "attempt": attempt, "delta": "-" * frame.text_bytes}
    return {**numbered, "attempt": attempt, "response": _response(frame)}


def _response(frame: Frame) -> dict[str, Any]:
    note = frame.note or Note()
    made: dict[str, Any] = {
        "id": note.response_id,
        "object": "response",
        "created_at": CREATED_AT,
        "status": STATUSES[frame.kind],
        "model": "m",
    }
    if note.output:
        made["output"] = OUTPUT
    if frame.kind is Kind.FAILED:
        made["error"] = _error(note)
    if note.usage is not None or note.usage_absurd:
        made["usage"] = _usage(note)
    return made


def _error(note: Note) -> dict[str, Any]:
    """What a code and its marks look like in an error object."""
    error: dict[str, Any] = {"code": note.code, "message": "Said by the upstream.", "param": None}
    if note.retryable is not None:
        error["retryable"] = note.retryable
    return error


def _usage(note: Note) -> dict[str, int]:
    if note.usage is None:
        return ABSURD
    taken, made = note.usage.input_tokens, note.usage.output_tokens
    return {"input_tokens": taken, "output_tokens": made, "total_tokens": taken + made}


def _as_block(event: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _json(event))


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
