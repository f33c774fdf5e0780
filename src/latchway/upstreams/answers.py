"""What an upstream's answer means to the turn: its head chooses a reader, the reader makes events.

| status | content type | request | reader |
|---|---|---|---|
| other than 2xx | any | any | `Refusal`: Answered, whatever becomes of the body |
| 2xx | `text/event-stream` | streamed | `EventStream`: Arrived, then Broke if no result came |
| 2xx | `text/event-stream` | not streamed | `Unreadable`: Broke |
| 2xx | anything else | any | `Whole`: Arrived, Answered or Broke, by what the body is |
| 2xx | encoded (gzip …) although `identity` was asked for | any | `Unreadable`: Broke |

Pure: no I/O, no clock but for an HTTP date in `retry-after`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from latchway.turn.events import (
    Answered,
    Arrived,
    Broke,
    Commented,
    Oversized,
    UpstreamEvent,
)
from latchway.upstreams.headers import answer_fields, retry_after
from latchway.upstreams.http1 import Head
from latchway.upstreams.limits import Limits
from latchway.wire import sse
from latchway.wire.frame import Answer, Frame, Kind, Note
from latchway.wire.meaning import answer_note, whole_answer

EVENT_STREAM = "text/event-stream"

RESULTS = frozenset({Kind.COMPLETED, Kind.INCOMPLETE, Kind.FAILED})
"""An attempt ends with the first of these; after an `error` event it goes on (R2, Pairs)."""

Scrub = Callable[[bytes], bytes]
"""Takes the operator's credentials out of text that may reach a client or the log."""


class Reader(Protocol):
    """Reads one body. Each method returns the events to tell, in order."""

    def begin(self) -> Sequence[UpstreamEvent]:
        """The head has come."""

    def feed(self, data: bytes) -> Sequence[UpstreamEvent]:
        """What one read brought."""

    def end(self, torn: str | None) -> Sequence[UpstreamEvent]:
        """The body has ended: cleanly, or `torn` for the reason given."""


def reader_for(
    head: Head, *, attempt: int, streamed: bool, event_bytes: int, limits: Limits, scrub: Scrub
) -> Reader:
    """The table above. `event_bytes`: `limits.event_bytes` of the configuration."""
    if not 200 <= head.status <= 299:
        return Refusal(attempt, head, limits.answer_bytes, scrub)
    if not head.plain:
        coding = "the upstream encoded its answer, although identity was asked for"
        return Unreadable(attempt, coding, begun=not streamed)
    if head.content_type != EVENT_STREAM:
        return Whole(attempt, head, streamed, event_bytes, scrub)
    if not streamed:
        return Unreadable(attempt, "the upstream streamed what was not to be streamed", begun=True)
    return EventStream(attempt, event_bytes)


class Unreadable:
    """An answer of which nothing can be used."""

    def __init__(self, attempt: int, reason: str, *, begun: bool) -> None:
        self._broke = Broke(attempt, reason, begun)

    def begin(self) -> Sequence[UpstreamEvent]:
        return (self._broke,)

    def feed(self, data: bytes) -> Sequence[UpstreamEvent]:
        return ()

    def end(self, torn: str | None) -> Sequence[UpstreamEvent]:
        return ()


class EventStream:
    """Server-sent events. One Arrived for a read; nothing after the result."""

    __slots__ = ("_attempt", "_over", "_parser")

    def __init__(self, attempt: int, event_bytes: int) -> None:
        self._attempt = attempt
        self._parser = sse.Parser(event_bytes)
        self._over = False

    def begin(self) -> Sequence[UpstreamEvent]:
        return ()

    def feed(self, data: bytes) -> Sequence[UpstreamEvent]:
        if self._over:
            return ()
        try:
            frames = self._parser.feed(data)
        except sse.Oversized as fault:
            return self._last(fault.frames, Oversized(self._attempt))
        if self._parser.done:
            return self._last(frames, Broke(self._attempt, "the upstream's stream said [DONE]"))
        if frames:
            return self._arrived(frames)
        return (Commented(self._attempt),) if self._parser.commented else ()

    def end(self, torn: str | None) -> Sequence[UpstreamEvent]:
        if self._over:
            return ()
        reason = torn or "the upstream's stream ended without a terminal event"
        return self._last(self._parser.finish(), Broke(self._attempt, reason))

    def _last(self, frames: list[Frame], event: UpstreamEvent) -> Sequence[UpstreamEvent]:
        """The last frames, then `event`, unless a result among them ends the attempt already."""
        arrived = self._arrived(frames) if frames else ()
        if self._over:
            return arrived
        self._over = True
        return (*arrived, event)

    def _arrived(self, frames: list[Frame]) -> Sequence[UpstreamEvent]:
        """All of a read, also what stands behind a result: usage or output there has arrived, and
        forbids the replay of a failure (R1.3)."""
        for frame in frames:  # plain output is passed over cheaply
            if frame.note is not None and frame.kind in RESULTS:
                self._over = True
        return (Arrived(self._attempt, tuple(frames)),)


class Body:
    """A body collected up to a bound. Beyond it nothing more is kept, and `over` is true."""

    __slots__ = ("_left", "_parts", "over")

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._parts: list[bytes] = []
        self.over = False

    def add(self, data: bytes) -> None:
        self._left -= len(data)
        self.over = self._left < 0
        if not self.over:
            self._parts.append(data)

    def whole(self) -> bytes:
        return b"".join(self._parts)


class Refusal:
    """An error status or a redirect. The status decides; the body only explains.

    A body that is too long, encoded or torn is left out, because half a message helps nobody and
    is no JSON; torn, it is kept if it is whole JSON all the same, as when a server that refuses
    early resets the connection behind its answer.
    """

    def __init__(self, attempt: int, head: Head, max_bytes: int, scrub: Scrub) -> None:
        self._attempt = attempt
        self._head = head
        self._scrub = scrub
        self._body = Body(max_bytes)

    def begin(self) -> Sequence[UpstreamEvent]:
        return ()

    def feed(self, data: bytes) -> Sequence[UpstreamEvent]:
        self._body.add(data)
        return self._answered(b"") if self._body.over else ()

    def end(self, torn: str | None) -> Sequence[UpstreamEvent]:
        body = self._body.whole()
        useful = self._head.plain and (torn is None or _is_json(body))
        return self._answered(body if useful else b"")

    def _answered(self, body: bytes) -> Sequence[UpstreamEvent]:
        return (Answered(self._attempt, answer_of(self._head, self._scrub(body))),)


class Whole:
    """A 2xx that is no event stream, read to its end: a result, an error, or neither."""

    def __init__(
        self, attempt: int, head: Head, streamed: bool, max_bytes: int, scrub: Scrub
    ) -> None:
        self._attempt = attempt
        self._head = head
        self._streamed = streamed
        self._scrub = scrub
        self._body = Body(max_bytes)

    def begin(self) -> Sequence[UpstreamEvent]:
        return ()

    def feed(self, data: bytes) -> Sequence[UpstreamEvent]:
        self._body.add(data)
        return (Oversized(self._attempt),) if self._body.over else ()

    def end(self, torn: str | None) -> Sequence[UpstreamEvent]:
        if torn is not None:
            return (Broke(self._attempt, torn, begun=not self._streamed),)
        body = self._body.whole()
        frame = whole_answer(body, self._streamed)
        if frame is not None:
            return (Arrived(self._attempt, (frame,)),)
        answer = answer_of(self._head, self._scrub(body))
        if answer.note.error is not None:
            return (Answered(self._attempt, answer),)
        reason = "the upstream's answer is neither an event stream nor a response"
        return (Broke(self._attempt, reason, self._may_have_run(body, answer.note)),)

    def _may_have_run(self, body: bytes, note: Note) -> bool:
        """Metered, or the torn half of a result."""
        return note.metered or (not self._streamed and self._is_torn(body))

    def _is_torn(self, body: bytes) -> bool:
        """JSON that begins and does not end; or nothing to tell an end from a break by."""
        if self._head.content_type != "application/json" or _is_json(body):
            return False
        return not self._head.says_its_length or body.lstrip().startswith(b"{")


def answer_of(head: Head, body: bytes) -> Answer:
    """`body`: scrubbed. Its own `retry_after` stands; where it has none, the header's."""
    note = answer_note(body)
    if note.retry_after is None:
        note = msgspec.structs.replace(note, retry_after=retry_after(head.headers))
    kind = head.headers.get("content-type") if body else None
    return Answer(head.status, body, kind, answer_fields(head.headers), note)


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
