"""What servers say, as bytes."""

from __future__ import annotations

import json
from typing import Any


def event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


CREATED = event("response.created", response={"id": "resp_1"})
DELTA = event("response.output_text.delta", delta="hi")
ERROR = event("error", error={"code": "server_error"})
COMPLETED = event("response.completed", response={"id": "resp_1", "status": "completed"})
STREAM = CREATED + DELTA + COMPLETED
RESULT = b'{"object":"response","id":"resp_1","status":"completed","output":[]}'
COMPACTION = b'{"object":"response.compaction","id":"resp_1","output":[]}'
JSON_ERROR = b'{"error":{"code":"server_is_overloaded","message":"later"}}'


def head(status: str = "200 OK", **fields: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def chunks(*parts: bytes, last: bool = True) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return body + (b"0\r\n\r\n" if last else b"")


def stream(*parts: bytes, last: bool = True, **fields: str) -> bytes:
    """An event stream in chunks."""
    kind = "text/event-stream; charset=utf-8"
    fields = {"content_type": kind, "transfer_encoding": "chunked", **fields}
    return head(**fields) + chunks(*parts, last=last)


def whole(
    body: bytes, status: str = "200 OK", kind: str = "application/json", **more: str
) -> bytes:
    return head(status, content_type=kind, content_length=str(len(body)), **more) + body
