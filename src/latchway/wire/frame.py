"""One event as it came: its bytes untouched, and beside them what they mean.

A frame is made once, where the bytes arrive, and passed by reference from there to the client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from latchway.values import Value, Word


class Kind(Word):
    """The class of an event (R4). What is not listed as something else is OUTPUT."""

    LIFECYCLE = "lifecycle"
    NEUTRAL = "neutral"
    OUTPUT = "output"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    ERROR = "error"


class Usage(Value, frozen=True):
    """Tokens that an upstream metered; the classes of price. Subsets are contained in their whole.

    `input_tokens` holds `cached_tokens` and `cache_write_tokens`; `output_tokens` holds
    `reasoning_tokens`.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class Note(Value, frozen=True):
    """What an event that is not plain output says. Every field may be missing on the wire."""

    response_id: str | None = None
    created_at: float | None = None
    model: str | None = None
    status: str | None = None
    metered: bool = False
    """Usage that is not all zero, or that cannot be true, stands in the event (R1.3)."""
    usage: Usage | None = None
    """The usage, if it is there whole and can be true; zero is zero, not missing (R6)."""
    usage_absurd: bool = False
    """Usage is there and cannot be true: missing for the bill, and an alarm."""
    output: bool = False
    """Output stands in the response object of an event that is none itself (R1.3)."""
    code: str | None = None
    """The error's code; an integer code as its digits."""
    retryable: bool | None = None
    """The error's explicit mark, which wins over the table of codes."""
    retry_after: float | None = None
    error: dict[str, Any] | None = None
    """The error object of a failure, nested or flat, as a dictionary."""


class Frame(Value, frozen=True):
    """One whole event.

    `data`: the JSON payload (a WebSocket's text). `block`: the bytes to pass on over SSE, with
    the blank line that ends them; for a turn that is not streamed, the body of the answer.
    `text_bytes`: UTF-8 bytes of delta text in it, for an estimate. `note` is there for every kind
    but OUTPUT, which has one only where usage stands in it.
    """

    kind: Kind
    data: bytes
    block: bytes
    text_bytes: int = 0
    note: Note | None = None
    made: tuple[bytes, ...] = ()
    """Marks of what its origin alone can read when it is sent back (wire/marks.py)."""

    @property
    def metered(self) -> bool:
        return self.note is not None and self.note.metered

    def payloads(self) -> Sequence[bytes]:
        """The JSON of each event in it: of one, but for a `Run`."""
        return (self.data,)


class Run(Frame, frozen=True):
    """Events of plain output that came together, as one frame: `data` is that of the last one.

    Hundreds of them mean, to a turn, what one of them means: output, with so many bytes of text.
    """

    each: Sequence[bytes] = ()
    """The JSON of each event, in order."""

    def payloads(self) -> Sequence[bytes]:
        return self.each


class Answer(Value, frozen=True):
    """A whole HTTP answer of an upstream that is no stream and no result (R2)."""

    status: int
    body: bytes = b""
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Headers of it that may reach the client (the allow-list is the adapter's)."""
    note: Note = Note()
    """Read from the body's `error` object, if it has one; `retry_after` also from the header."""
