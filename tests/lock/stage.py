"""A script over a real transport: bytes in, bytes out, and the whole gateway between them.

The stimuli are the same as on the bare turn (`play.Stage`); what happens at the client is read off
the bytes that it gets, and what happens at the other ports is seen there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from websockets.frames import Frame, Opcode

from harness.clock import VirtualClock
from harness.prompt import prompt_bytes
from harness.transport import MemoryTransport
from harness.websocket import HANDSHAKE
from latchway.serve.http import HttpConnection
from latchway.turn import events as on
from lock import said
from lock.gateway import EVENT_BYTES, Gateway
from lock.heard import Ears, HttpEars, SocketEars
from lock.money import REQUEST_BYTES
from lock.record import line
from lock.script import Scenario
from lock.spoken import Speaker

BOUND: dict[str, dict[str, Any]] = {
    "stateless": {},
    "stored": {"store": True},
    "continuation": {"previous_response_id": "resp_0"},
    "continuation, conversation": {"conversation": {"id": "conv_0"}},
    "origin_bound": {"input": [{"type": "item_reference", "id": "msg_1"}]},
    "origin_bound, encrypted": {"input": [{"type": "reasoning", "encrypted_content": "gAAA"}]},
    "origin_bound, compaction": {},
}
"""What a request says that is bound so."""

TURNS = "/v1/responses"
PATHS = {"origin_bound, compaction": "/v1/responses/compact"}
"""Where it is sent, if not to where turns are sent."""

REST_SECONDS = 10.0
"""After a turn, for its upstream's connection to be closed."""

TOOLS: dict[str, list[dict[str, str]]] = {
    "none": [],
    "acting": [{"type": "local_shell"}],
    "allowed": [{"type": "local_shell"}],
    "function": [{"type": "function", "name": "f"}],
}


class ClientLine(MemoryTransport):
    """The gateway's end of a client's connection; `hear` gets every write."""

    hear: Callable[[bytes], None] | None = None

    def write(self, data: Any) -> None:
        if self.is_closing():
            return
        super().write(data)
        if self.hear is not None:
            self.hear(bytes(data))

    def stall(self) -> None:
        """The client takes no more: the buffer is full."""
        self.slow = self._paused = True
        self._protocol.pause_writing()

    def go_on(self) -> None:
        """It takes all that waits."""
        self.slow = False
        self.take()


class Wire:
    """`play.Stage` over one transport. To be used within `gateway.loop.running()`.

    `gateway`: one that is there already, and whose lines go elsewhere; None: one of its own.
    """

    def __init__(self, scenario: Scenario, transport: str, gateway: Gateway | None = None) -> None:
        self.lines: list[str] = []
        self.scenario, self.transport = scenario, transport
        self.gateway = gateway or Gateway(scenario, self.say)
        self.clock: VirtualClock = self.gateway.clock
        self.ears: Ears = HttpEars() if transport == "http" else SocketEars()
        streamed = scenario.head["streamed"] == "yes"
        self.speakers = {
            number: Speaker(
                streamed=streamed, oversized_bytes=EVENT_BYTES, words=scenario.head["bytes"]
            )
            for number in (1, 2)
        }
        self._passing = False
        self._said_at: float | None = None
        poor = "ledger reserve denies" in scenario.stimuli
        self._secret = self.gateway.poor if poor else self.gateway.secret
        self.client = self._connect()

    def say(self, told: str) -> None:
        """A line; while time passes, behind the moment that it is of."""
        now = self.clock.time()
        if self._passing and now != self._said_at:
            self._said_at = now
            self.lines.append(line("clock", f"{now:g}s"))
        self.lines.append(told)

    # ---- play.Stage

    def upstream_tells(self, attempt: int, words: str) -> None:
        event = said.event(attempt, words)
        if isinstance(event, on.Answered) and self.speakers[attempt].headed:
            self.gateway.upstreams.calls[attempt].tell(event)
        else:
            self._arrives(attempt, event)
        self.clock.advance()

    def passes(self, seconds: float) -> None:
        self._passing, self._said_at = True, None
        self.clock.advance(seconds)
        self._passing = False

    def does(self, port: str, what: str) -> None:
        DOES[port](self, what)
        self.clock.advance()

    # ---- the upstream

    def _arrives(self, attempt: int, event: on.UpstreamEvent) -> None:
        at, speaker = self.gateway.network.line(attempt), self.speakers[attempt]
        if isinstance(event, on.Sent):
            at.slow = False
            at.take()
        for data in speaker.reads(event):
            at.arrive(data)
        if isinstance(event, on.Broke) and event.reason == "broke":
            at.arrive_end(reset=True)
        elif isinstance(event, on.Broke) and (event.reason == "closed" or speaker.ends_by_closing):
            at.arrive_end(reset=False)

    def upstream_does(self, what: str) -> None:
        network = self.gateway.network
        network.connects = what != "does not connect"
        network.takes_requests = what != "takes no request"

    # ---- the client

    def _connect(self) -> ClientLine:
        connection = HttpConnection(self.gateway.app)
        made = ClientLine(self.clock, connection)
        connection.connection_made(made)
        if self.transport == "websocket":
            made.send(self._head("GET", HANDSHAKE))
            self.clock.advance()
            assert made.taken.startswith(b"HTTP/1.1 101 "), bytes(made.taken)
            made.taken.clear()
        made.hear = self._heard
        return made

    def begin(self, _: str) -> None:
        body = request(self.scenario, self.transport)
        if self.transport == "websocket":
            self.client.send(Frame(Opcode.TEXT, body, True).serialize(mask=True))
        else:
            fields = {"content-type": "application/json", "content-length": str(len(body))}
            path = PATHS.get(self.scenario.head["binding"], TURNS)
            self.client.send(self._head("POST", fields, path) + body)

    def client_does(self, what: str) -> None:
        CLIENT[what](self.client)

    def _head(self, method: str, fields: dict[str, str], path: str = TURNS) -> bytes:
        fields = {"host": "gateway", "authorization": f"Bearer {self._secret}", **fields}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()

    def _heard(self, data: bytes) -> None:
        for told in self.ears.hear(data):
            self.say(line("client", told))

    # ---- the others

    def stop(self, code: str) -> None:
        for driver in list(self.gateway.app.turns):
            driver.stop(code)

    def routes_do(self, what: str) -> None:
        self.gateway.routes.fault = what == "fault"

    def ledger_does(self, what: str) -> None:
        step, _, how = what.partition(" ")
        if step == "answers":
            self.gateway.ledger.answer()
        else:
            self.gateway.ledger.orders[step].append(how)

    # ---- the end

    def transcript(self) -> bytes:
        """Exactly what the client got: an answer's bytes, or frames, one a line."""
        if isinstance(self.ears, SocketEars):
            return b"".join(f"{frame}\n".encode() for frame in self.ears.told())
        return bytes(self.client.taken)

    def check_rest(self) -> None:
        """Whatever happened, nothing is left of the turn but its record (I-L, I-B)."""
        self.clock.advance(REST_SECONDS)
        assert not self.gateway.app.turns, "the turn goes on"
        assert self.client.lost or self.ears.whole, "an answer that neither ends nor is cut"
        for at in self.gateway.network.lines:
            assert at is None or at.lost, "an upstream is still connected"
        self.gateway.ledger.check()


DOES: dict[str, Callable[[Wire, str], None]] = {
    "begin": Wire.begin,
    "stop": Wire.stop,
    "client": Wire.client_does,
    "routes": Wire.routes_do,
    "upstream": Wire.upstream_does,
    "ledger": Wire.ledger_does,
}
"""As `bare.DOES`."""

CLIENT: dict[str, Callable[[ClientLine], None]] = {
    "gone": ClientLine.leave,
    "slow": ClientLine.stall,
    "reads on": ClientLine.go_on,
}


def request(scenario: Scenario, transport: str) -> bytes:
    """A body of which `REQUEST_BYTES` count, that asks for what the head says."""
    asked: dict[str, Any] = {"model": "m", "input": "hi"}
    if transport == "websocket":
        asked = {"type": "response.create", **asked}
    elif scenario.head["streamed"] == "yes":
        asked["stream"] = True
    asked |= BOUND[scenario.head["binding"]]
    if tools := TOOLS[scenario.head["tools"]]:
        asked["tools"] = tools
    filling = REQUEST_BYTES - prompt_bytes(json.dumps({**asked, "user": ""}).encode())
    return json.dumps({**asked, "user": "-" * filling}).encode()
