"""What reaches the client, and when: the hold, the latch, the status line, comments (R4, R5)."""

from __future__ import annotations

from collections.abc import Sequence

from latchway.turn import commands as do
from latchway.turn.attempt import Attempt
from latchway.turn.commands import Command, Delivered
from latchway.turn.decide import Verdict
from latchway.turn.events import Place
from latchway.values import Value, Word
from latchway.wire.frame import Frame, Kind


class State(Word):
    """Where a turn is. What may follow what: `machine.STEPS`."""

    NEW = "new"
    CHOOSING = "choosing"
    RESERVING = "reserving"
    CALLING = "calling"
    HOLDING = "holding"
    RELEASED = "released"
    STREAMING = "streaming"
    PAIRING = "pairing"
    PAIRING_LATE = "pairing_late"
    CHOOSING_AGAIN = "choosing_again"
    RECORDING = "recording"
    CLOSING = "closing"
    ENDED = "ended"


class Terms(Value, frozen=True):
    """What the turn must know of its request, its transport and the settings."""

    streamed: bool
    status_line: bool
    """HTTP: a status can still be chosen until the first delivery. A WebSocket has none."""
    whole_pair: bool
    """`error` and `response.failed` are both delivered (HTTP), or the latter alone."""
    acting_tools: bool
    """The request has a tool that acts, and `replay_acting_tools` is off."""
    keepalive_seconds: float
    """0: no early headers, no comments (a WebSocket, a turn that is not streamed)."""
    pre_output_buffer_bytes: int
    whole_answer_timeout_seconds: float
    client_left_pays: bool
    upstream_broke_pays: bool
    replay_fault_code: str
    """R2.13: `websocket_response_failed` or `response_failed`."""


RESULTS = frozenset({Kind.OUTPUT, Kind.COMPLETED, Kind.INCOMPLETE})


class Delivery:
    """The client's half of a turn's state. Base of `machine.Turn`."""

    __slots__ = (
        "attempt", "began", "delivered", "first_output", "head_at", "held_seconds", "known",
        "place", "refusal", "released_by_timer", "replayed", "resendable", "state", "status_line",
        "terms", "written",
    )  # fmt: skip

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.state = State.NEW
        self.began = 0.0
        self.place: Place | None = None
        self.attempt: Attempt | None = None
        self.known: Attempt | None = None
        """The attempt whose events the client has seen."""
        self.status_line = terms.status_line
        self.head_at: float | None = None
        """When early headers are due, until they or a delivery went out."""
        self.written = 0.0
        self.delivered = Delivered.NOTHING
        self.replayed = False
        self.refusal: Verdict | None = None
        self.resendable = False
        self.first_output: float | None = None
        self.held_seconds = 0.0
        self.released_by_timer = False

    @property
    def live(self) -> Attempt:
        """The attempt in flight; asked for only in states that have one."""
        assert self.attempt is not None
        return self.attempt

    def keep(self, frame: Frame, now: float) -> bool:
        """Hold a lifecycle or neutral frame; False: the bound would be passed (R2.7)."""
        hold = self.live.hold
        if not hold.fits(frame):
            return False
        hold.keep(frame, now)
        if hold.since is not None:
            self.state = State.HOLDING
        return True

    def release(self, now: float) -> tuple[Frame, ...]:
        """Take out what is held, to be handed over before anything else."""
        hold = self.live.hold
        if hold.since is not None:
            self.held_seconds += now - hold.since
        return hold.release()

    def hand(self, frames: Sequence[Frame], now: float, out: list[Command]) -> None:
        """Shut the latch, then hand frames to the client: the only way to it (law 3)."""
        if not frames:
            return
        self.status_line = False
        if self.delivered is not Delivered.OUTPUT:
            self._shut(frames, now)
        self.written = now
        out.append(do.Deliver(tuple(frames), self.replay_header(), self.resendable))

    def _shut(self, frames: Sequence[Frame], now: float) -> None:
        kinds = {frame.kind for frame in frames}
        if kinds != {Kind.NEUTRAL}:
            self.known = self.attempt
        if kinds & RESULTS:
            self.delivered = Delivered.OUTPUT
            self.first_output = now
        elif Kind.LIFECYCLE in kinds:
            self.delivered = Delivered.LIFECYCLE

    def replay_header(self) -> str | None:
        """`x-latchway-replay`, as far as it is decided when something is delivered.

        None, and left out, while nothing was called: there was nothing to replay.
        """
        if self.attempt is None:
            return None
        if self.replayed:
            return "replayed"
        if self.refusal is not None:
            return f"refused; reason={self.refusal.value}"
        return "none"

    # ---- the client's clocks

    def hold_due(self) -> float | None:
        """When the hold's limit is reached, from the attempt's first held event (R4)."""
        if self.state is not State.HOLDING or self.live.hold.since is None:
            return None
        return self.live.hold.since + self.live.place.hold_seconds

    def client_due(self) -> float | None:
        """When early headers or the next comment are due (R5)."""
        if self.head_at is None:
            return None
        if self.status_line:
            return self.head_at
        return self.written + self.terms.keepalive_seconds

    def tick_hold(self, now: float, out: list[Command]) -> None:
        due = self.hold_due()
        if due is not None and now >= due:
            self.released_by_timer = True
            self.hand(self.release(now), now, out)
            self.state = State.RELEASED

    def tick_client(self, now: float, out: list[Command]) -> None:
        due = self.client_due()
        if due is None or now < due:
            return
        self.written = now
        if self.status_line:
            self.status_line = False
            out.append(do.SendHead("replayed" if self.replayed else None))
        else:
            out.append(do.Comment())
