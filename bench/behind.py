"""What an event costs behind output: its way through parser and turn, and the ways to look at it.

Each event is still read, for its class, its text and what it may meter. These figures say why by a
typed decoder and not by a look at its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.timing import each_time, each_time_cold
from latchway.turn import events as on
from latchway.turn.machine import Turn
from latchway.wire.decode import decode_plain
from latchway.wire.meaning import KINDS
from latchway.wire.sse import Parser

READ = 64
"""Events in the one read of which each one's share is told."""

NEVER = (b'"usage"', b'"response"', b'"item"', b"\\")
"""What plain output has not, were it told by its bytes. The last one: a name that is written with
escapes is a name, too, and an escaped quote ends no text."""

DELTA_MEMBER = b'"delta":"'
NOT_PLAIN = frozenset({*KINDS, "response.audio.delta"})
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
    typed = each_time(lambda: _typed_text(events)) / READ
    yield f"its class and its text by a typed decoder, {READ} in a read", typed
    yield "the same by a search of the bytes", each_time(lambda: _searched_text(read)) / READ


def _typed_text(events: Sequence[bytes]) -> int:
    """As `wire.meaning.run` does it."""
    read = list(map(decode_plain, events))
    if not NOT_PLAIN.isdisjoint([event.type for event in read]):
        return 0
    return len("".join([event.delta for event in read]).encode())


def _searched_text(read: bytes) -> int:
    """As it could be done for events without an escape in their text; no better way is known."""
    if any(read.count(name) for name in NEVER) or read.count(b'"type":"') != READ:
        return 0
    size, end = 0, 0
    while (start := read.find(DELTA_MEMBER, end)) >= 0:
        start += len(DELTA_MEMBER)
        end = read.index(b'"', start)
        size += end - start
    return size


def _delta(body: bytes) -> bytes:
    """The block of its first delta."""
    start = body.index(DELTA)
    return body[start : body.index(b"\n\n", start) + 2]
