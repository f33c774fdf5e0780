"""What a server does, and what the turn is told: every row on both event loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from latchway.upstreams.faults import EARLY_END, TORN
from upstreams.said import (
    COMPLETED,
    CREATED,
    DELTA,
    ERROR,
    JSON_ERROR,
    RESULT,
    STREAM,
    event,
    head,
    stream,
    whole,
)
from upstreams.scripted import EVENT_BYTES, LOOPS, Side, play, request, world

OPENED = ["connected", "sent"]
BEGUN = [*OPENED, "headed 200"]
RESET = "broke: the upstream reset the connection (ECONNRESET)"
NO_END = "broke: the upstream's stream ended without a terminal event"
ENCODED = "broke: the upstream encoded its answer, although identity was asked for"
NEITHER = "broke: the upstream's answer is neither an event stream nor a response"
LONG_HEAD = "broke: the upstream's header fields are too long"
BIG = event("response.output_text.delta", delta="x" * EVENT_BYTES)
HTML = b"<html>a proxy's page</html>"
SSE = {"content_type": "text/event-stream"}
GZIP = {"content_encoding": "gzip"}
METERED = b'{"object":"chat.completion","usage":{"input_tokens":3,"output_tokens":1}}'


@dataclass(frozen=True)
class Row:
    does: str
    sends: bytes
    told: list[str]
    ends: str = "stays"
    """stays | closes | resets"""
    streamed: bool = True


ROWS = [
    Row("a stream in chunks", stream(STREAM),
        [*BEGUN, "response.created", "response.output_text.delta", "response.completed"]),
    Row("a stream that its close ends", head(**SSE) + STREAM,
        [*BEGUN, "response.created", "response.output_text.delta", "response.completed"],
        ends="closes"),
    Row("a comment", stream(b": ping\n\n", last=False), [*BEGUN, "commented", f"broke: {TORN}"],
        ends="closes"),
    Row("a clean end without a terminal event", stream(CREATED),
        [*BEGUN, "response.created", NO_END]),
    Row("a clean end without any event", stream(), [*BEGUN, NO_END]),
    Row("chunks that break off", stream(CREATED, last=False),
        [*BEGUN, "response.created", f"broke: {TORN}"], ends="closes"),
    Row("a length that is not reached", head(content_length="9999", **SSE) + CREATED,
        [*BEGUN, "response.created", f"broke: {TORN}"], ends="closes"),
    Row("a terminal event without its blank line", stream(COMPLETED[:-1], last=False),
        [*BEGUN, "response.completed"], ends="closes"),
    Row("data, then a reset", stream(CREATED + DELTA, last=False),
        [*BEGUN, "response.created", "response.output_text.delta", RESET], ends="resets"),
    Row("a head, then a reset", head(transfer_encoding="chunked", **SSE), [*BEGUN, RESET],
        ends="resets"),
    Row("a reset at once", b"", [*OPENED, RESET], ends="resets"),
    Row("a close at once", b"", [*OPENED, f"broke: {EARLY_END}"], ends="closes"),
    Row("bad chunks after an event", stream(CREATED, last=False) + b"zz\r\n",
        [*BEGUN, "response.created",
         "broke: the upstream's answer is not HTTP/1.1: Invalid character in chunk size"]),
    Row("no HTTP at all", b"SSH-2.0-x\r\n",
        [*OPENED, "broke: the upstream's answer is not HTTP/1.1:"
         " Expected HTTP/, RTSP/ or ICE/"]),
    Row("[DONE] without a terminal event", stream(CREATED + b"data: [DONE]\n\n", last=False),
        [*BEGUN, "response.created", "broke: the upstream's stream said [DONE]"]),
    Row("[DONE] after the result", stream(COMPLETED + b"data: [DONE]\n\n"),
        [*BEGUN, "response.completed"]),
    Row("an error event, then the end", stream(ERROR), [*BEGUN, "error", NO_END]),
    Row("interim answers", head("100 Continue") + head("103 Early Hints", link="x")
        + stream(COMPLETED), [*BEGUN, "response.completed"]),
    Row("another protocol", head("101 Switching Protocols", upgrade="x", connection="upgrade"),
        [*OPENED, "broke: the upstream switched to a protocol that was not asked for"]),
    Row("an event over the limit", stream(CREATED + BIG),
        [*BEGUN, "response.created", "oversized"]),
    Row("an oversized event after the result", stream(COMPLETED + BIG),
        [*BEGUN, "response.completed"]),
    Row("a stream in gzip", head(**SSE, **GZIP) + b"\x1f\x8b", [*BEGUN, ENCODED]),
    Row("a transfer coding of its own", head(transfer_encoding="gzip", **SSE) + b"\x1f\x8b",
        [*BEGUN, "broke: the upstream used a transfer coding that was not asked for"]),
    Row("a header field without end", b"HTTP/1.1 200 OK\r\nx: " + b"y" * (80 << 10),
        [*OPENED, LONG_HEAD]),
    Row("too many header fields", head(**{f"x{n}": "y" * 1000 for n in range(70)}),
        [*OPENED, LONG_HEAD]),
    Row("trailers without end", stream(CREATED, last=False) + b"0\r\nx: " + b"y" * (400 << 10),
        [*BEGUN, "response.created", LONG_HEAD]),
    Row("an error status", whole(JSON_ERROR, "503 Busy"),
        [*OPENED, "headed 503", "answered 503 server_is_overloaded"]),
    Row("an error status under an event stream", head("500 Oh", content_length="0", **SSE),
        [*OPENED, "headed 500", "answered 500 None"]),
    Row("a redirect", whole(b"", "307 There", location="http://127.0.0.1:1/v1"),
        [*OPENED, "headed 307", "answered 307 None"]),
    Row("an error status in gzip", whole(b"\x1f\x8b", "503 Busy", **GZIP),
        [*OPENED, "headed 503", "answered 503 None"]),
    Row("a torn error", head("429 Slow", content_length="999") + JSON_ERROR[:30],
        [*OPENED, "headed 429", "answered 429 None"], ends="closes"),
    Row("an error whose reset comes behind it", head("413 Big") + JSON_ERROR,
        [*OPENED, "headed 413", "answered 413 server_is_overloaded"], ends="resets"),
    Row("an error of a megabyte and more", whole(b" " * (1 << 20) + JSON_ERROR, "503 Busy"),
        [*OPENED, "headed 503", "answered 503 None"]),
    Row("a result without a stream", whole(RESULT), [*BEGUN, "response.completed"]),
    Row("an error under 200", whole(JSON_ERROR), [*BEGUN, "answered 200 server_is_overloaded"]),
    Row("a web page", whole(HTML, kind="text/html"), [*BEGUN, NEITHER]),
    Row("nothing, under 204", head("204 No Content"), [*OPENED, "headed 204", NEITHER]),
    Row("other JSON", whole(b'{"detail":"?"}'), [*BEGUN, NEITHER]),
    Row("other JSON that was metered", whole(METERED), [*BEGUN, f"{NEITHER} (begun)"]),
    Row("a result that breaks off", head(content_length="999") + RESULT,
        [*BEGUN, f"broke: {TORN}"], ends="closes"),
    # not streamed
    Row("a result", whole(RESULT), [*BEGUN, "response"], streamed=False),
    Row("a result that its close ends", head(content_type="application/json") + RESULT,
        [*BEGUN, "response"], ends="closes", streamed=False),
    Row("half a result that its close ends", head(content_type="application/json") + RESULT[:9],
        [*BEGUN, f"{NEITHER} (begun)"], ends="closes", streamed=False),
    Row("a result over the limit", whole(RESULT + b" " * EVENT_BYTES), [*BEGUN, "oversized"],
        streamed=False),
    Row("an error, not streamed, under 200", whole(JSON_ERROR),
        [*BEGUN, "answered 200 server_is_overloaded"], streamed=False),
    Row("an error, not streamed", whole(JSON_ERROR, "503 Busy"),
        [*OPENED, "headed 503", "answered 503 server_is_overloaded"], streamed=False),
    Row("a stream that was not asked for", stream(STREAM),
        [*BEGUN, "broke: the upstream streamed what was not to be streamed (begun)"],
        streamed=False),
    Row("gzip, not streamed", whole(b"\x1f\x8b", **GZIP), [*BEGUN, f"{ENCODED} (begun)"],
        streamed=False),
    Row("a web page, not streamed", whole(HTML, kind="text/html"), [*BEGUN, NEITHER],
        streamed=False),
    Row("a close before the status line", b"HTTP/1.1 2", [*OPENED, f"broke: {EARLY_END}"],
        ends="closes", streamed=False),
    Row("a reset before the status line", b"", [*OPENED, RESET], ends="resets", streamed=False),
    Row("a close after the status line", head(content_length="999"),
        [*BEGUN, f"broke: {TORN} (begun)"], ends="closes", streamed=False),
]  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("row", ROWS, ids=[row.does for row in ROWS])
def test_what_the_server_does_is_told_in_order(row: Row, loop: Any) -> None:
    async def script(side: Side) -> None:
        await side.answer(row.sends)
        if row.ends == "stays":
            await side.left()
        if row.ends == "resets":
            side.reset()

    async def main() -> None:
        async with world(script) as here:
            ear, call = here.call(request(row.streamed))
            assert await ear.over() == row.told
            call.drop()
            call.drop()

    play(main, loop)


def test_the_same_is_told_wherever_the_bytes_are_split() -> None:
    sends = head("100 Continue") + stream(CREATED, b": ping\n\n" + DELTA, COMPLETED)

    async def script(side: Side) -> None:
        await side.request()
        for byte in sends:
            side.writer.write(bytes([byte]))
            await side.writer.drain()

    async def main() -> None:
        async with world(script) as here:
            lines = await here.turn()
            assert [line for line in lines if line != "commented"] == ROWS[0].told

    play(main)
