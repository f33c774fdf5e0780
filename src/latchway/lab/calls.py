"""What the lab remembers of each call: what came, what it played, and who left first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from latchway.lab.asked import Asked, asked_of, json_object

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came: over a WebSocket `body` is the message, the rest the handshake's."""

    transport: str
    """http | websocket"""
    method: str
    path: str
    headers: Headers
    body: bytes
    keep_alive: bool = True

    @property
    def asked(self) -> Asked:
        """A message of a WebSocket is always answered with events."""
        asked = asked_of(self.body)
        return asked if self.transport == "http" else Asked(asked.model, asked.text, streamed=True)


@dataclass(slots=True)
class Call:
    """One call. Times are seconds of `time.monotonic`."""

    number: int
    """From 1, in the order of their coming, over all connections."""
    received: Received
    reply: str
    """The reply's place in the script (`calls[0]`), or `none` if no route fits."""
    connection: int
    """From 1; the same for the calls that came over one connection."""
    arrived: float
    answered: float | None = None
    """When the first byte of the answer was written."""
    over: float | None = None
    """When the lab was done with it, or the other side had left."""
    outcome: str | None = None
    """clean | cut | reset | left | refused | closed <code>; None: still playing."""
    events: int = field(default=0)
    """Events, blocks and messages that were written, whole."""
    left: str | None = None
    """How the other side left the connection, also after the call was over, if this was its last:
    closed | reset | close <code>. None: it is there, or the lab ended it."""
    left_at: float | None = None

    @property
    def method(self) -> str:
        return self.received.method

    @property
    def path(self) -> str:
        return self.received.path

    @property
    def headers(self) -> dict[str, str]:
        """By lower-case name; of a repeated one the last."""
        return {name.lower(): value for name, value in self.received.headers}

    @property
    def body(self) -> bytes:
        return self.received.body

    @property
    def json(self) -> dict[str, Any]:
        """The body's JSON object; empty if it is none."""
        return json_object(self.body)

    def __str__(self) -> str:
        """One line of the transcript, without what was asked or answered."""
        what = f"#{self.number} {self.received.transport} {self.method} {self.path}"
        took = (self.over or self.arrived) - self.arrived
        played = f"{self.reply}, {self.events} event{'' if self.events == 1 else 's'}"
        outcome = f"the other side left ({self.left})" if self.outcome == "left" else self.outcome
        return f"{what}: {played}, {outcome} after {took:.2f} s"
