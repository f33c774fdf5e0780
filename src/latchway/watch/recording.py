"""What came, as a script that `latchway lab` plays back: the same bytes, with the same gaps.

Strings as JSON writes them, so that a person can read it; base64 where bytes are no readable text.
The credential that was sent is blotted out, should it have come back, without moving a byte.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from latchway.lab.reading import MAX_SCRIPT_BYTES, MAX_SCRIPT_NODES
from latchway.upstreams.http1 import Head
from latchway.watch.credential import Credential

LEAST_WAIT_SECONDS = 0.001
"""A shorter gap is added to the next one: no event loop is more punctual."""

FRAME_BYTES = 8 << 10
"""Of a script, beside its steps."""

STEP_BYTES = 64
"""Of a script, beside a step's own bytes: the wait before it, and its name."""

STEP_NODES = 6
"""A step and the wait before it, counted as the lab counts values."""

MOST_BYTES = MAX_SCRIPT_BYTES - FRAME_BYTES
MOST_STEPS = MAX_SCRIPT_NODES // STEP_NODES - 1
"""What is longer the lab would not read."""

HEADERS = (
    "content-type", "content-encoding", "retry-after", "x-request-id", "openai-processing-ms",
    "openai-version",
)  # fmt: skip
"""Header fields that are kept: those that a client reads, and none that names an account."""


class Ending(Enum):
    """How it ended, as the lab's last step says it; None: nothing is said."""

    CLEAN = None
    """A body ended; a socket stayed open."""
    CUT = "end: cut"
    RESET = "reset"
    SILENCE = "silence"
    """Whoever watched has left; what would have come is not known."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that came in one read, or one message. `form`: the lab's step."""

    at: float
    form: str
    data: bytes


class Recording:
    """Told everything in order. `now`: seconds of any clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.cut_short = False
        """There was more than the lab would read."""
        self._now = now
        self._began: float | None = None
        self._head: tuple[float, Head] | None = None
        self._pieces: list[Piece] = []
        self._bytes = 0
        self._end: tuple[float, str | None] | None = None

    @property
    def empty(self) -> bool:
        """There was no connection: nothing that could be played."""
        return self._began is None

    def begin(self) -> None:
        """There is a connection, and then, the request is sent; gaps count from here."""
        self._began = self._now()

    def head(self, head: Head) -> None:
        self._head = self._now(), head

    def piece(self, data: bytes, form: str = "raw") -> None:
        """A part of a body, a message (`raw`, `binary`) or a `ping`."""
        self._bytes += len(_said(data)) + STEP_BYTES
        if self._bytes > MOST_BYTES or len(self._pieces) == MOST_STEPS:
            self.cut_short = True
        if not self.cut_short:
            self._pieces.append(Piece(self._now(), form, data))

    def close(self, code: int, reason: str) -> None:
        """A WebSocket's close frame came."""
        said = json.dumps({"code": code, "reason": reason})
        self._end = self._end or (self._now(), f"close: {said}")

    def end(self, how: Ending) -> None:
        """Nothing more comes. The first end stands."""
        self._end = self._end or (self._now(), how.value)

    def script(self, credential: Credential) -> str:
        """The lab's script of it, as YAML."""
        return "".join(f"{line}\n" for line in self._lines(credential))

    def _lines(self, credential: Credential) -> Iterator[str]:
        yield "# Recorded by `latchway watch --raw`; `latchway lab FILE` plays it back."
        if self.cut_short:
            yield "# There was more than a script may hold; it ends where it was cut."
        first, *more = self._reply(credential)
        yield f"- {first}"
        for line in more:
            yield f"  {line}"

    def _reply(self, credential: Credential) -> Iterator[str]:
        began = last = self._began or 0.0
        if self._head is not None:
            last, head = self._head
            yield from _head_lines(head, round(last - began, 3), credential)
        elif not self._pieces:
            yield "no_head: true"
        steps = list(self._steps(last, credential))
        yield "events:" if steps else "events: []"
        for step in steps:
            yield f"  - {step}"

    def _steps(self, began: float, credential: Credential) -> Iterator[str]:
        """Each step behind the wait that brings it to its time; what rounding took is not lost."""
        played = 0.0
        for piece in _blotted(self._pieces, credential):
            wait = round(piece.at - began - played, 3)
            if wait >= LEAST_WAIT_SECONDS:
                played += wait
                yield f"wait: {wait}"
            yield f"{piece.form}: {_said(piece.data)}"
        if self.cut_short:
            yield Ending.CUT.value or ""
        elif self._end is not None:
            at, said = self._end
            yield from _end_lines(at - began - played, said, credential)


def _end_lines(gap: float, said: str | None, credential: Credential) -> Iterator[str]:
    if gap >= LEAST_WAIT_SECONDS and said != Ending.SILENCE.value:
        yield f"wait: {round(gap, 3)}"
    if said is not None:
        yield _blotted_text(said, credential)


def _head_lines(head: Head, delay: float, credential: Credential) -> Iterator[str]:
    yield f"status: {head.status}"
    yield f"framing: {_framing(head)}"
    if delay >= LEAST_WAIT_SECONDS:
        yield f"head_delay: {delay}"
    kept: dict[str, Any] = {name: head.headers[name] for name in HEADERS if name in head.headers}
    said = json.dumps({"content-type": None, **kept})
    yield f"headers: {_blotted_text(said, credential)}"


def _framing(head: Head) -> str:
    if "transfer-encoding" in head.headers:
        return "chunked"
    return "length" if head.says_its_length else "close"


def _blotted(pieces: list[Piece], credential: Credential) -> list[Piece]:
    """Also where the credential came in two pieces."""
    whole = credential.blot(b"".join(piece.data for piece in pieces))
    clean, start = [], 0
    for piece in pieces:
        end = start + len(piece.data)
        clean.append(Piece(piece.at, piece.form, whole[start:end]))
        start = end
    return clean


def _blotted_text(text: str, credential: Credential) -> str:
    return credential.blot(text.encode()).decode()


def _said(data: bytes) -> str:
    """A text as a JSON string, if YAML reads that alike; else base64."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
        return json.dumps(text, ensure_ascii=False)
    return json.dumps({"base64": base64.b64encode(data).decode("ascii")})
