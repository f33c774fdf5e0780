"""Faults of ours: each ends one turn, whose money ends too, and the process goes on (law 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.gateway import Gateway, body
from harness.http import HttpPeer
from harness.upstreams import completed, created, failed, text
from harness.websocket import SocketPeer
from latchway import failpoints
from latchway.turn import events as on
from latchway.turn.machine import STEPS, State, Turn
from latchway.wire.frame import Frame

TRANSPORTS = ("http", "websocket")


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


class Asked:
    """One turn over either transport, and what its client was told last."""

    def __init__(self, gateway: Gateway, transport: str) -> None:
        self.gateway, self.transport = gateway, transport
        self.peer: HttpPeer | SocketPeer
        if transport == "http":
            self.peer = gateway.connect()
        else:
            self.peer = gateway.socket()

    def ask(self) -> None:
        if isinstance(self.peer, HttpPeer):
            self.peer.post(body())
        else:
            self.peer.create()

    def upstream(self, *frames: Any) -> None:
        if self.gateway.upstreams.calls and self.gateway.call.after is None:
            self.gateway.call.heads()
            self.gateway.call.sends(*frames)
        self.gateway.clock.advance()

    @property
    def told(self) -> tuple[int, str]:
        """Status and code of the last error; of a stream's, its status line's status."""
        if isinstance(self.peer, SocketPeer):
            return self.peer.events[-1]["status"], self.peer.errors[-1]
        answer = self.peer.answers[-1]
        if answer.headers["content-type"] == "application/json":
            return answer.status, answer.code
        error = next(event for event in answer.events if event["type"] == "error")
        return answer.status, error["error"]["code"]

    def works(self) -> bool:
        """The connection and the process serve another turn."""
        before = len(self.gateway.upstreams.calls)
        self.ask()
        self.upstream(created("resp_9"), text(), completed("resp_9"))
        told = self.peer if isinstance(self.peer, SocketPeer) else self.peer.answers[-1]
        called = len(self.gateway.upstreams.calls) - before
        return called == 1 and told.types[-1] == "response.completed"


# ---- points at which a test can raise

FINE = (created(), text(), completed())
AGAIN = (created(), failed())
RAISED: dict[str, tuple[list[tuple[Frame, ...]], int, str, list[str]]] = {
    "reserve": ([FINE], 503, "ledger_unavailable", []),
    "attempt_1": ([FINE], 500, "internal_error", ["void"]),
    "select_route_replay": ([AGAIN], 500, "response_failed", ["void"]),
    "attempt_2": ([AGAIN], 500, "internal_error", ["void"]),
    "settle": ([(created(), completed())], 503, "ledger_unavailable", ["void"]),
    "refund": ([(created(), failed("invalid_prompt"))], 500, "internal_error", ["void"]),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", RAISED)
def test_a_fault_at_each_point_ends_one_turn_and_its_reservation(name: str, transport: str) -> None:
    says, status, code, states = RAISED[name]
    gateway = Gateway()
    asked = Asked(gateway, transport)
    failpoints.arm(f"{name}:raise")
    asked.ask()
    for frames in says:
        asked.upstream(*frames)

    if transport == "websocket" and code == "response_failed":
        code = "websocket_response_failed"
    seen = asked.told
    assert seen[1] == code
    assert seen[0] in (status, 200)
    assert gateway.ledger.states() == states
    assert gateway.ledger.figures() == (0, 0)
    assert gateway.record["code"] == code
    assert asked.works()
    assert not gateway.app.turns


def test_every_point_is_in_the_table() -> None:
    assert set(RAISED) == set(failpoints.NAMES)


def test_a_fault_of_the_choice_leaves_attempt_1_its_verdict() -> None:
    """R2.13: the rule said replay, and yet the turn was not replayed."""
    gateway = Gateway()
    asked = Asked(gateway, "http")
    failpoints.arm("select_route_replay:raise")
    asked.ask()
    asked.upstream(*AGAIN)

    (attempt,) = gateway.record["attempts"]
    assert (attempt["verdict"], gateway.record["replayed"]) == ("replay", False)
    assert gateway.app.ports.routes.replay_room()


def test_a_charge_that_cannot_be_made_after_output_is_told_as_events() -> None:
    gateway = Gateway()
    asked = Asked(gateway, "http")
    failpoints.arm("settle:raise")
    asked.ask()
    asked.upstream(created(), text(), completed())

    assert isinstance(asked.peer, HttpPeer)
    assert asked.peer.answer.types[-2:] == ["error", "response.failed"]
    assert "response.completed" not in asked.peer.answer.types
    assert gateway.ledger.figures() == (0, 0)


# ---- bugs of ours


def bug(*_: Any, **__: Any) -> Any:
    raise LookupError("a bug")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("at", [on.Begin, on.Reserved, on.Headed, on.Arrived, on.Closed])
def test_a_bug_of_the_turn_ends_that_turn_alone(
    at: type[Any], transport: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway()
    asked = Asked(gateway, transport)
    sound = Turn.handle

    def handle(turn: Turn, event: on.Event, now: float) -> Any:
        return bug() if isinstance(event, at) else sound(turn, event, now)

    with monkeypatch.context() as patched:
        patched.setattr(Turn, "handle", handle)
        asked.ask()
        asked.upstream(created(), text("output-canary"), completed())

    assert asked.told[1] == "internal_error"
    assert set(gateway.ledger.states()) <= {"void", "settled"}
    assert gateway.ledger.figures()[1] == 0
    assert gateway.record["code"] == "internal_error"
    assert all(call.after for call in gateway.upstreams.calls)
    assert "a bug" in caplog.text
    assert "output-canary" not in caplog.text
    assert asked.works()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_reservation_that_comes_to_an_abandoned_turn_is_given_back(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway()
    asked = Asked(gateway, transport)
    gateway.ledger.holds = True
    asked.ask()
    with monkeypatch.context() as patched:
        patched.setattr(Turn, "handle", bug)
        next(iter(gateway.app.turns)).stop("shutting_down")
    gateway.ledger.holds = False
    gateway.ledger.answer()
    gateway.clock.advance()

    assert set(gateway.ledger.states()) == {"void"}
    assert gateway.ledger.figures() == (0, 0)


def test_a_step_that_leads_where_it_may_not_shows_nobody_the_output(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere: frozenset[State] = frozenset()
    monkeypatch.setitem(STEPS[State.CALLING], on.Arrived, (Turn.arrive, nowhere))
    gateway = Gateway()
    asked = Asked(gateway, "http")
    asked.ask()
    asked.upstream(text("output-canary"))

    assert asked.told == (500, "internal_error")
    assert "AssertionError" in caplog.text
    assert "output-canary" not in caplog.text


BROKEN = {
    "the choice of a route": ("routes", "first"),
    "the reservation": ("ledger", "reserve"),
    "the call": ("upstreams", "open"),
    "the end of an attempt": ("routes", "attempt_ended"),
    "the settlement": ("ledger", "close"),
    "the count of turns": ("routes", "turn_ended"),
    "the record": ("log", "record"),
    "the figures": ("metrics", "turn_ended"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("times", [1, 2])
def test_a_port_that_breaks_its_promise_ends_that_turn_alone(
    case: str, times: int, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, method = BROKEN[case]
    gateway = Gateway()
    asked = Asked(gateway, transport)
    port = getattr(gateway.app.ports, name)
    sound, breaks = getattr(port, method), [bug] * times

    def broken(*given: Any, **named: Any) -> Any:
        return (breaks.pop() if breaks else sound)(*given, **named)

    monkeypatch.setattr(port, method, broken)
    asked.ask()
    asked.upstream(created(), text(), completed())
    breaks.clear()

    assert not gateway.app.turns
    assert gateway.ledger.figures()[1] == 0
    assert asked.works()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_ledger_that_takes_no_refund_keeps_no_client_waiting(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway()
    asked = Asked(gateway, transport)
    monkeypatch.setattr(gateway.ledger, "close", bug)
    asked.ask()
    with pytest.raises(LookupError):
        asked.upstream(created(), completed())

    assert asked.told[1] == "internal_error"
    assert not gateway.app.turns
