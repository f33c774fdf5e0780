"""What an event costs behind output: its way through parser and turn, and the ways to look at it.

Each event is still read, for its class, its text and what it may meter. These figures say why by a
typed decoder and not by a look at its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.timing import each_time, each_time_cold
from latchway.turn import events as on
from latchway.turn.machine import Turn
from latchway.wire.decode import decode_plain
from latchway.wire.sse import Parser

READ = 64
"""Events in the one read of which each one's share is told."""

LOOKED_FOR = (b'"type":"', b'"usage"', b'"response"', b'"item"', b"\\u00")
"""What plain output has not, or has once, were it told by its bytes. The last one: a name written
with escapes is a name, too."""

DELTA = b"event: response.output_text.delta"


def costs(turn: Turn, parser: Parser, body: bytes) -> Iterator[tuple[str, float]]:
    """Lines, each with its microseconds. `turn`: its output has begun; `body`: an answer's."""
    block = _delta(body)
    parser.feed(b"\n")  # the head of the stream is past

    def pass_on() -> None:
        turn.handle(on.Arrived(1, tuple(parser.feed(block))), 0.0)

    yield "alone in its read, cut, read and through the turn", each_time(pass_on)
    yield "the same on a core that has slept before it", each_time_cold(pass_on)
    data = block[block.index(b"{") :].rstrip()
    events, read = [data] * READ, data * READ
    typed = each_time(lambda: list(map(decode_plain, events))) / READ
    yield f"its JSON read by a typed decoder, {READ} in a read", typed
    looked = each_time(lambda: [read.count(name) for name in LOOKED_FOR]) / READ
    yield "instead, its bytes searched for what is not plain, its text uncounted", looked


def _delta(body: bytes) -> bytes:
    """The block of its first delta."""
    start = body.index(DELTA)
    return body[start : body.index(b"\n\n", start) + 2]
