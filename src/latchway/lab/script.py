"""What each call of the faulty upstream gets, as frozen values.

A script is a list of replies, one for each call, the last one for all that follow; or `routes`, of
which each has its own list and says `when` it is meant. `checked.py` makes these values from YAML.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from latchway.lab.asked import Asked


class Framing(Enum):
    """How the end of a body is told."""

    CHUNKED = "chunked"
    LENGTH = "length"
    CLOSE = "close"


class Ending(Enum):
    """How a script can end an answer by itself."""

    CLEAN = "clean"
    """The body ends as its framing says; a WebSocket is closed with 1000."""
    CUT = "cut"
    """The connection is closed where it stands: no last chunk, no close frame."""


@dataclass(frozen=True, slots=True)
class Event:
    """A Responses event: `form` is a row of `events.FORMS`, `value` what the script gave it."""

    form: str
    value: Any


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are; over a WebSocket one message of them."""

    data: bytes
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an event stream that is no event, with the blank line; nothing over a WebSocket."""

    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing more, until the other side leaves."""


@dataclass(frozen=True, slots=True)
class Reset:
    """A TCP reset (RST)."""


@dataclass(frozen=True, slots=True)
class End:
    how: Ending


@dataclass(frozen=True, slots=True)
class Close:
    """A close frame; over HTTP the connection is cut."""

    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """A ping frame; nothing over HTTP."""

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Repeat:
    times: int
    steps: tuple[Step, ...]


Step = Event | Raw | Line | Wait | Silence | Reset | End | Close | Ping | Repeat


@dataclass(frozen=True, slots=True)
class Body:
    """A whole body: JSON if it is a mapping or a list, else the text."""

    value: Any


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call gets. Seconds and bytes."""

    path: str
    """Where it stands in the script, for the transcript: `calls[0]`."""
    steps: tuple[Step, ...] = ()
    body: Body | None = None
    status: int = 200
    headers: tuple[tuple[str, str | None], ...] = ()
    """They replace the lab's own of the same name; None: the header is left out."""
    framing: Framing | None = None
    """None: chunked for events, length for a body."""
    split: int | None = None
    """Payload bytes a write; None: each event in one."""
    crlf: bool = False
    delay: float = 0.0
    """Before each event."""
    head_delay: float = 0.0
    head: bool = True
    """False: no status line; the steps' bytes alone, then a reset."""
    pong: bool = True
    """Are a WebSocket's pings answered?"""


NO_ROUTE = Reply(
    path="none",
    status=404,
    body=Body(
        {
            "error": {
                "message": "No route of the script fits this model and input.",
                "type": "invalid_request_error",
                "param": "model",
                "code": "model_not_found",
            }
        }
    ),
)
"""What a call gets that no branch fits."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Replies for the calls that fit. None: whatever is asked."""

    replies: tuple[Reply, ...]
    model: str | None = None
    text: str | None = None
    """Contained in the input's text."""

    def fits(self, asked: Asked) -> bool:
        if self.model is not None and self.model != asked.model:
            return False
        return self.text is None or self.text in asked.text

    def reply(self, number: int) -> Reply:
        """The reply to this branch's call `number`, from 0; the last one repeats."""
        return self.replies[min(number, len(self.replies) - 1)]


@dataclass(frozen=True, slots=True)
class Script:
    """What a lab plays: the branches in order, of which the first that fits a call answers it."""

    branches: tuple[Branch, ...]
    models: tuple[str, ...]
    """What `GET /v1/models` lists."""

    def branch_for(self, asked: Asked) -> int | None:
        """The first branch that fits, as its place in `branches`; None: no branch does."""
        places: Iterator[int] = (
            place for place, branch in enumerate(self.branches) if branch.fits(asked)
        )
        return next(places, None)
