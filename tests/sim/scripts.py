"""A script: what one upstream call will meet, as bytes and what they mean.

It is bytes with their delays. Beside them stands what the bytes mean and from which byte on
it has arrived, for whoever judges the turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from sim.events import Event, Maker

NEVER = 1e9
"""Seconds: what is this late never comes."""

WAITING, HOLDING, RELEASED, STREAMING = "waiting", "holding", "released", "streaming"
PHASES = (WAITING, HOLDING, RELEASED, STREAMING)


@dataclass(slots=True)
class Step:
    """After `delay` seconds these bytes arrive, or the end does (`fin` | `rst`)."""

    delay: float
    data: bytes = b""
    end: str | None = None


@dataclass(slots=True)
class Answer:
    """An HTTP answer that is no stream: what a turn makes of it once it is whole."""

    status: int
    body: bytes
    kind: str
    """refusal | error | result | neither"""
    retryable: bool = False
    metered: bool = False
    event: Event | None = None


@dataclass(slots=True)
class Script:
    """`fault`: its name, for what is counted. `marks`: events, and the offset in the answer's bytes
    at which each is whole. `done_at`: where `[DONE]` ends the stream."""

    fault: str = "none"
    dial: str | None = None
    dial_delay: float = 0.0
    early: bool = False
    """It answers before the request is all there."""
    steps: list[Step] = field(default_factory=list)
    marks: list[tuple[int, Event]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    """Where in `marks` an event of a number stands."""
    head_at: int = 0
    answer: Answer | None = None
    answer_at: int = 0
    done_at: int | None = None
    broken_at: int | None = None
    """Where the bytes stop being HTTP or are no longer wanted (oversized)."""
    keep: bool = False
    """The server takes another request on the connection."""


class Writer:
    """Builds a script: bytes first, then the cuts and delays of their arrival."""

    def __init__(self, random: Random, maker: Maker, hold: float) -> None:
        self.random, self.maker, self.hold = random, maker, hold
        self.script = Script(dial_delay=random.choice((0.0, 0.001, 0.02, 0.4, 3.0)))
        self.at = 0
        self.chunked = True

    # ---- bytes

    def send(self, data: bytes, delay: float | None = None) -> None:
        """Bytes that arrive together, or cut in two."""
        wait = self._pause() if delay is None else delay
        self.at += len(data)
        if len(data) > 2 and self.random.random() < 0.15:
            cut = self.random.randrange(1, len(data))
            self.script.steps.append(Step(wait, data[:cut]))
            self.script.steps.append(Step(self.random.choice((0.0, 0.0, 0.003, 0.2)), data[cut:]))
        else:
            self.script.steps.append(Step(wait, data))

    def end(self, how: str, delay: float | None = None) -> None:
        self.script.steps.append(Step(self._pause() if delay is None else delay, b"", how))

    def _pause(self) -> float:
        return self.random.choice(PAUSES)

    def head(self, status: int = 200, *fields: bytes, kind: bytes = b"text/event-stream") -> None:
        framing = b"transfer-encoding: chunked" if self.chunked else b"x-ends: with the connection"
        lines = [b"HTTP/1.1 %d S" % status, b"content-type: " + kind, framing, *fields]
        lines.append(b"x-request-id: up_%d" % self.maker.call)
        self.send(b"\r\n".join(lines) + b"\r\n\r\n")
        self.script.head_at = self.at

    def stream_head(self) -> None:
        self.chunked = self.random.random() < 0.9
        if self.random.random() < 0.05:
            self.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        self.head()

    def _chunk(self, data: bytes) -> tuple[bytes, int]:
        """The data as it travels, and how many bytes go before it."""
        if not self.chunked:
            return data, 0
        size = b"%x\r\n" % len(data)
        return size + data + b"\r\n", len(size)

    def say(self, *events_: Event, delay: float | None = None) -> None:
        """Events that arrive in one piece."""
        travelling = bytearray()
        for event in events_:
            data, before = self._chunk(event.raw)
            short = 1 if event.raw.endswith(b"\r\n") else 0
            whole = self.at + len(travelling) + before + len(event.raw) - short
            self.script.places[event.number] = len(self.script.marks)
            self.script.marks.append((whole, event))
            travelling += data
        self.send(bytes(travelling), delay)

    def raw(self, data: bytes, delay: float | None = None) -> int:
        """Bytes of the body that are no event; returns where they end."""
        travelling, before = self._chunk(data)
        whole = self.at + before + len(data)
        self.send(travelling, delay)
        return whole

    def clean_end(self) -> None:
        """The body ends as it should; the connection then stays, closes, or is left open."""
        if not self.chunked:
            self.end("fin")
            return
        sort = self.random.random()
        if sort < 0.75:
            self.send(b"0\r\n\r\n", 0.0 if sort < 0.6 else None)
            self.script.keep = sort < 0.6
        elif sort < 0.9:
            self.end("fin", self.random.choice((0.0, 0.5, 4.0)))

    # ---- up to a phase

    def reach(self, phase: str) -> None:
        """Let the answer come as far as this phase."""
        if phase == WAITING:
            if self.random.random() < 0.6:
                self.stream_head()
                self.noise()
            return
        self.stream_head()
        self.noise()
        self.say(*(self.maker.lifecycle() for _ in range(self.random.randint(1, 2))))
        self.noise()
        if phase == RELEASED:
            self.say(self.maker.lifecycle(), delay=self.hold + 0.5)
        if phase == STREAMING:
            self.outputs(self.random.randint(1, 5))

    def noise(self) -> None:
        """Comments and neutral events: signs of life."""
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            if self.random.random() < 0.5:
                self.raw(b": still here\n\n")
            else:
                self.say(self.maker.neutral())

    def outputs(self, number: int) -> None:
        for _ in range(number):
            together = self.random.choice((1, 1, 1, 3))
            self.say(*(self.maker.output() for _ in range(together)))


PAUSES = (0.0, 0.0, 0.001, 0.01, 0.05, 0.3, 0.9, 1.1, 2.5)
