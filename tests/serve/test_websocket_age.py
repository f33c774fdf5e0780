"""How old a WebSocket may grow, and how long a client may be slow or silent (R8)."""

from __future__ import annotations

import pytest
from websockets.frames import Opcode

from harness.gateway import Gateway
from harness.upstreams import completed, created, event, failed, text
from harness.websocket import SocketPeer, masked
from latchway.serve import limits

AGE = "websocket_connection_limit_reached"
MINUTE = 60.0


def live(gateway: Gateway, peer: SocketPeer, minutes: float) -> None:
    """Minutes go by, and the client answers the pings."""
    seconds = minutes * MINUTE
    while seconds > 0:
        step = min(seconds, limits.PING_SECONDS)
        gateway.clock.advance(step)
        peer.frame(Opcode.PONG, b"")
        seconds -= step


# ---- age


def test_an_idle_socket_is_closed_after_an_hour() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    live(gateway, peer, 59.9)
    assert peer.close_code is None
    live(gateway, peer, 0.2)

    assert peer.closed_by == (1001, AGE)
    assert peer.events == []


def test_a_turn_in_flight_has_its_grace_and_no_other_begins() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    live(gateway, peer, 59.9)
    peer.create()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created(), text())
    for _ in range(9):
        live(gateway, peer, 1)
        gateway.call.sends(text())
    peer.create()
    assert peer.close_code is None
    assert peer.errors == []
    gateway.call.sends(completed())
    gateway.clock.advance()

    assert peer.types[-2:] == ["response.completed", "error"]
    assert (peer.events[-1]["status"], peer.errors) == (400, [AGE])
    assert peer.close_code == 1008
    assert len(gateway.upstreams.calls) == 1


def test_a_turn_that_ends_within_its_grace_closes_the_idle_socket() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    live(gateway, peer, 59.9)
    peer.create()
    gateway.call.heads()
    live(gateway, peer, 0.5)
    gateway.call.sends(completed())
    gateway.clock.advance()

    assert peer.types == ["response.completed"]
    assert peer.closed_by == (1001, AGE)


@pytest.mark.parametrize("output", [True, False])
@pytest.mark.parametrize("held", [True, False])
def test_beyond_its_grace_a_turn_is_ended(output: bool, held: bool) -> None:
    """Told first, then closed, however long the ledger takes to say that it is durable."""
    gateway = Gateway()
    peer = gateway.socket()
    live(gateway, peer, 59.9)
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created(), *([text()] if output else []))
    for _ in range(9):
        live(gateway, peer, 1)
        gateway.call.sends(event("ping"))
    gateway.ledger.holds = held
    live(gateway, peer, 1.2)
    if held:
        assert peer.close_code is None
        gateway.ledger.answer()

    assert peer.events[-1]["type"] == "error"
    assert (peer.events[-1]["status"], peer.errors) == (400, [AGE])
    assert peer.closed_by == (1008, AGE)
    assert gateway.ledger.figures() == (0, 0)
    assert gateway.record["attempts"][0]["failure"] == "gateway_stopped"


# ---- pings


def test_pings_are_sent_and_an_idle_peer_that_answers_none_is_gone() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    gateway.clock.advance(61)
    assert peer.pings == 3
    gateway.clock.advance(20)
    assert peer.transport.reset


def test_pings_go_on_while_a_turn_is_slow_and_nobody_need_answer_then() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created(), text())
    for _ in range(10):
        gateway.clock.advance(100)
        gateway.call.sends(text())
    assert peer.pings == 50
    assert not peer.transport.lost


def test_a_peer_that_answers_pings_stays() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    live(gateway, peer, 30)
    assert peer.pings == 90
    assert not peer.transport.lost


# ---- slow clients

BIG = text("x" * (1 << 20))


def test_a_slow_client_slows_its_upstream_and_that_of_its_next_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    peer.transport.slow = True
    gateway.call.heads()
    gateway.call.sends(created(), BIG)
    assert gateway.call.paused
    gateway.call.sends(completed())
    gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 2

    gateway.call.heads()
    gateway.call.sends(created("resp_2"))
    assert not gateway.call.paused, "what may yet decide on a replay is read as it arrives"
    gateway.call.sends(text())
    assert gateway.call.paused
    peer.transport.take()
    assert not gateway.call.paused


def test_the_second_attempt_of_a_slow_client_is_slowed_too() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    peer.transport.slow = True
    gateway.call.heads()
    gateway.call.sends(created(), BIG, completed())
    gateway.clock.advance()
    gateway.call.heads()
    gateway.call.sends(created("resp_2"), failed())
    gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 3

    gateway.call.heads()
    gateway.call.sends(created("resp_3"), text())
    assert gateway.call.paused


def test_a_client_that_takes_no_answers_is_asked_no_more_questions() -> None:
    """Refusals and pongs are bounded by what the client takes, not by what it sends."""
    gateway = Gateway()
    peer = gateway.socket()
    peer.transport.slow = True
    question = masked(Opcode.TEXT, b"{}") + masked(Opcode.PING, b"x" * 125)
    for _ in range(1000):
        peer.send(question)
    assert peer.transport.get_write_buffer_size() < 2 * limits.WRITE_HIGH_BYTES

    peer.transport.slow = False
    peer.transport.take()
    assert len(peer.events) == 1000
    peer.create()
    assert len(gateway.upstreams.calls) == 1


def test_a_client_that_is_still_taking_is_not_silent() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.transport.slow = True
    gateway.call.heads()
    gateway.call.sends(BIG, completed())
    gateway.clock.advance()
    for _ in range(10):
        gateway.clock.advance(20)
        peer.transport.take(10_000)
    assert not peer.transport.lost

    peer.transport.slow = False
    peer.transport.take()
    gateway.clock.advance(limits.PONG_SECONDS - 1)
    assert not peer.transport.lost
    gateway.clock.advance(limits.PING_SECONDS + 1)
    assert peer.transport.reset


def test_a_client_that_takes_nothing_is_gone() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.transport.slow = True
    gateway.call.heads()
    gateway.call.sends(BIG)
    for _ in range(10):
        gateway.clock.advance(60)
        peer.transport.take(1000)
    assert not peer.transport.lost
    gateway.clock.advance(150)
    assert peer.transport.reset
    assert gateway.record["outcome"] == "client_disconnected"


def test_nor_does_one_stay_that_has_said_all_and_takes_nothing() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.transport.slow = True
    gateway.call.heads()
    gateway.call.sends(text())
    peer.transport.finish()
    gateway.clock.advance(10)
    assert peer.transport.lost
    assert not gateway.app.sockets


def test_a_slow_client_may_take_the_last_bytes_behind_which_it_is_closed() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.transport.slow = True
    gateway.app.drain()
    gateway.call.heads()
    gateway.call.sends(BIG, completed())
    gateway.clock.advance()
    for _ in range(20):
        peer.transport.take(60_000)
        gateway.clock.advance(4)
    assert peer.types[-1] == "response.completed"
    assert peer.close_code == 1012
