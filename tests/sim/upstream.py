"""The upstreams: servers that play a script for each call, and the recorder at the port.

The recorder stands where the driver asks for attempts; what it writes down is what the world saw:
which calls were made, what of each had arrived and been read, and when the turn left it.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.names import itself
from latchway.turn.events import Place, UpstreamEvent
from latchway.upstreams.limits import Limits
from latchway.upstreams.responses import ResponsesUpstreams
from latchway.wire.request import Request
from sim.events import Event
from sim.network import Kernel, Wire
from sim.scripts import NEVER, Script, Step
from sim.universe import Pending, Process, Violation

if TYPE_CHECKING:
    from sim.cases import Case
    from sim.oracle import Ended
    from sim.world import World

MARKER = re.compile(rb'"input":"turn (\d+) ')
MODEL = re.compile(rb'"model":"([^"]*)"')
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)

EARLY_BYTES = 1400
"""Of a request, that a server takes which answers before it has all of it."""

FAULTS: dict[str, Callable[[], OSError]] = {
    "refused": lambda: ConnectionRefusedError(111, "refused"),
    "no_name": lambda: socket.gaierror(-2, "no name"),
    "no_tls": lambda: ssl.SSLError(1, "no tls"),
    "os_timeout": lambda: TimeoutError(110, "timed out"),
}


@dataclass(eq=False)
class Call:
    """One attempt, as the world sees it."""

    id: int
    case: Case
    number: int
    route: str
    model: str
    script: Script
    began: float
    arrived: int = 0
    """Bytes of its answer in the gateway's kernel, read or not."""
    connected: bool = False
    requests: int = 0
    broken: bool = False
    """The connection could not be made, or has broken; what had arrived by then stays."""
    wire: Wire | None = None
    """Its connection, from when it is dialled, or from its request on one that was there."""
    expected: Ended | None = None
    """How the rule says that it ended, judged when the turn left it."""
    left: str | None = None
    """dropped | released: how the turn left it."""
    left_at: float = 0.0
    lifecycle_read: float | None = None
    """When the first lifecycle event was read."""
    error_read: float | None = None
    """When an `error` event was read."""
    quiet_since: float = 0.0
    """The last sign of life."""
    head_since: float = 0.0
    """When the head of its answer had arrived."""
    inner: Any = None
    stalled_then: float = 0.0
    arrived_by_then: int = 0
    """`arrived`, less what was not read, when the turn left it."""
    ended_by: str = ""
    ended_in: str = ""
    """What the turn was told when it left the call, and its state before that."""

    def __str__(self) -> str:
        return f"{self.case.number}/{self.number} on {self.route} ({self.script.fault})"

    @property
    def events(self) -> list[Event]:
        """Those that have arrived whole."""
        return [event for at, event in self.script.marks if at <= self.arrived]

    @property
    def events_read(self) -> list[Event]:
        """Those that the gateway had read when it left the call."""
        return [event for at, event in self.script.marks if at <= self.arrived_by_then]

    @property
    def finished(self) -> bool:
        """Its whole answer has come, and its connection is free again."""
        return self.arrived == sum(len(step.data) for step in self.script.steps)

    @property
    def unread(self) -> bool:
        """Is there something of it in the kernel that the gateway has not looked at?"""
        return self.wire is not None and self.wire.untold

    # ---- ports.Call

    def drop(self) -> None:
        self.case.leave(self, "dropped")
        self.inner.drop()

    def release(self) -> None:
        self.case.leave(self, "released")
        self.inner.release()

    def pause(self) -> None:
        self.inner.pause()

    def resume(self) -> None:
        self.quiet_since = self.case.world.universe.now
        self.inner.resume()


class Recorder(ResponsesUpstreams):
    """The real one; what is asked of it is written down."""

    def __init__(self, world: World, limits: Limits, tls: ssl.SSLContext) -> None:
        super().__init__(world.settings, limits=limits, tls=tls, find=itself)
        self._world = world

    def open(  # type: ignore[override]
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> Call:
        world = self._world
        found = MARKER.search(request.body)
        assert found is not None
        case = world.cases[int(found[1])]
        call = case.open(attempt, place)
        process = world.process
        process.opening = call
        call.inner = super().open(attempt, place, request, tell)
        process.opening = None
        return call


class ServerEnd:
    """The server's end of one connection; it may serve several calls, one after another."""

    def __init__(self, world: World, process: Process, kernel: Kernel) -> None:
        self.world, self.universe = world, world.universe
        self.wire = Wire(process, self, kernel)
        self.call: Call | None = None
        self._latest: Call | None = None
        """Whose request was written last; it may cross the end of the connection."""
        self._received = bytearray()
        self._ended = False
        self._steps: list[Step] = []
        self._playing = 0
        """Which playing of a script is the current one."""

    # ---- network.Peer

    def handed(self, data: bytes) -> None:
        """The request is being written: its connection is made."""
        marker, model = MARKER.search(data), MODEL.search(data)
        if marker is not None and model is not None:
            call = self._latest = self._find(marker, model)
            call.connected, call.wire = True, self.wire
            call.broken = call.broken or self._ended

    def sent(self, data: bytes) -> None:
        self.universe.after(0.001, lambda: self._receive(data))

    def hung_up(self, reset: bool) -> None:
        self._playing += 1

    # ---- requests

    def _receive(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = LENGTH.search(head)
        assert length is not None
        whole = len(body) >= int(length[1])
        marker, model = MARKER.search(body), MODEL.search(body)
        if marker is None or model is None or not (whole or self._early(marker, model)):
            return
        if whole:
            self._received.clear()
        self._serve(marker, model)

    def _find(self, marker: re.Match[bytes], model: re.Match[bytes]) -> Call:
        case = self.world.cases[int(marker[1])]
        return next(call for call in case.calls if call.model == model[1].decode())

    def _early(self, marker: re.Match[bytes], model: re.Match[bytes]) -> bool:
        return self._find(marker, model).script.early

    def _serve(self, marker: re.Match[bytes], model: re.Match[bytes]) -> None:
        call = self._find(marker, model)
        if self.call is call:
            return
        call.requests += 1
        if call.requests > 1:
            raise Violation(f"I-R11: {call.case.number} attempt {call.number} was sent twice")
        self.call = call
        self._steps = list(reversed(call.script.steps))
        self._playing += 1
        self._next(self._playing)

    # ---- the script

    def _next(self, playing: int) -> None:
        if not self._steps:
            self._idle(playing)
            return
        step = self._steps.pop()
        if step.delay < NEVER:
            self.universe.after(step.delay, lambda: self._do(step, playing))

    def _do(self, step: Step, playing: int) -> None:
        call = self.call
        if playing != self._playing or call is None or self.wire.over:
            return
        if step.end is not None:
            self._end(step.end, call)
            return
        before, call.arrived = call.arrived, call.arrived + len(step.data)
        if before < call.script.head_at <= call.arrived:
            call.head_since = self.universe.now
        call.quiet_since = self.universe.now
        self.world.universe.note("  upstream %s: %d bytes arrive", call, len(step.data))
        self.wire.arrive(step.data)
        self._next(playing)

    def _end(self, how: str, call: Call | None) -> None:
        self._playing += 1
        self._ended = True
        for each in (call, self._latest):
            if each is not None:
                each.broken = True
        self.universe.note("  upstream %s: %s", call, how)
        if how == "rst":
            self.wire.arrive_rst()
        else:
            self.wire.arrive_fin()

    def _idle(self, playing: int) -> None:
        """The script is over: wait for another request, but not for ever."""
        call = self.call
        if call is not None and call.script.keep:
            stay = self.universe.random.choice((0.5, 2.0, 3.9995, 6.0))
            self.universe.after(stay, lambda: self._grow_tired(playing))

    def _grow_tired(self, playing: int) -> None:
        if playing == self._playing and not self.wire.over:
            self._end("fin", None)


def dial(
    world: World, process: Process, call: Call, host: str, port: int, pending: Pending
) -> Callable[[], Wire]:
    """Make a connection for `call`; what it returns gives the transport once `pending` is over."""
    script, universe = call.script, world.universe
    end = ServerEnd(world, process, world.kernel)
    end.wire.window = universe.random.choice((None, None, None, 0, 300))
    if script.early:
        end.wire.window = EARLY_BYTES
    call.wire = end.wire

    def answer() -> None:
        if pending.abandoned or universe.process is not process:
            return
        fault = FAULTS[script.dial]() if script.dial is not None else None
        call.broken = call.broken or fault is not None
        universe.note("  dial for %s: %s", call, script.dial or "connected")
        process.call_soon(pending.then, fault)

    if script.dial != "no_answer":
        universe.after(script.dial_delay, answer)
    if end.wire.window is not None and not script.early:
        universe.after(script.dial_delay + universe.random.choice((0.01, 0.5)), end.wire.take_all)
    return lambda: end.wire


def watch_dials(world: World) -> Callable[..., Any]:
    """The network, for `Process`."""

    def dialled(
        process: Process, purpose: Any, host: str, port: int, pending: Pending
    ) -> Callable[[], Wire]:
        return dial(world, process, purpose, host, port, pending)

    return dialled
