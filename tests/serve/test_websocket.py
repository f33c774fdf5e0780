"""A client's WebSocket: turns one after another, its key, and its end (R8)."""

from __future__ import annotations

import pytest
from websockets.frames import Opcode

from harness.gateway import COST, Gateway, body
from harness.upstreams import created, error, failed, text
from harness.websocket import masked
from latchway.serve import limits
from latchway.settings import WebsocketSettings

AGE = "websocket_connection_limit_reached"
MINUTE = 60.0


# ---- turns


def test_turns_one_after_another() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    for number in range(3):
        peer.create()
        gateway.finish(f"resp_{number}")

    lifecycle = ["response.created", "response.output_text.delta", "response.completed"]
    assert peer.types == lifecycle * 3
    assert gateway.ledger.figures() == (3 * COST, 0)
    assert gateway.record["transport"] == "websocket"
    assert gateway.record["streamed"] is True


def test_a_create_that_comes_meanwhile_waits_its_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    for _ in range(3):
        peer.create()
    assert len(gateway.upstreams.calls) == 1
    assert gateway.ledger.asked == ["reserve"]

    for number in range(3):
        gateway.finish(f"resp_{number}")
    made = [e["response"]["id"] for e in peer.events if e["type"] == "response.completed"]
    assert made == ["resp_0", "resp_1", "resp_2"]


@pytest.mark.parametrize("queue", [0, 2])
def test_beyond_the_queue_a_create_is_refused_and_the_active_one_goes_on(queue: int) -> None:
    gateway = Gateway(websocket=WebsocketSettings(queue=queue))
    peer = gateway.socket()
    for _ in range(queue + 2):
        peer.create()
    assert peer.errors == ["rate_limit_exceeded"]
    assert (peer.events[0]["status"], peer.events[0]["error"]["retryable"]) == (429, True)

    for _ in range(queue + 1):
        gateway.finish()
    assert peer.types.count("response.completed") == queue + 1


def test_the_queue_is_bounded_in_bytes_too() -> None:
    gateway = Gateway(websocket=WebsocketSettings(max_message_bytes=1000))
    peer = gateway.socket()
    for _ in range(3):
        peer.create(input="x" * 400)
    assert peer.errors == []
    peer.create(input="x" * 400)
    assert peer.errors == ["rate_limit_exceeded"]


def test_a_faulty_create_is_answered_in_its_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create(model=7)
    peer.text("{no json")
    assert peer.errors == []

    gateway.finish()
    assert peer.types[-3:] == ["response.completed", "error", "error"]
    assert peer.errors == ["invalid_request", "invalid_json"]
    peer.create()
    assert len(gateway.upstreams.calls) == 2


def test_a_create_that_waits_is_not_called_when_its_client_leaves() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    peer.transport.leave()
    gateway.clock.advance(1)

    assert gateway.call.after == "dropped"
    assert len(gateway.upstreams.calls) == 1
    assert gateway.ledger.states() == ["void"]
    assert len(gateway.ledger.records) == 1


def test_a_replay_is_invisible() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created("resp_1"), error(), failed())
    gateway.clock.advance()
    gateway.finish("resp_2")

    assert peer.types == ["response.created", "response.output_text.delta", "response.completed"]
    assert peer.events[0]["response"]["id"] == "resp_2"


@pytest.mark.parametrize("where", ["before output", "after output"])
def test_a_pair_is_one_terminal_frame(where: str) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created(), *([text()] if where == "after output" else []))
    gateway.call.sends(error("invalid_prompt"), failed("invalid_prompt"))
    gateway.clock.advance()

    assert peer.types[-1] == "response.failed"
    assert "error" not in peer.types


@pytest.mark.parametrize("seconds", [9.9, 10.1])
def test_the_hold_is_the_same_as_over_http(seconds: float) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created())
    gateway.clock.advance(seconds)
    assert peer.types == (["response.created"] if seconds > 10 else [])


def test_neither_head_nor_comments_are_sent() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.clock.advance(50)
    assert {frame.opcode for frame in peer.frames} == {Opcode.PING}


# ---- keys


def test_a_revoked_key_ends_the_socket_at_its_next_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    peer.create()
    gateway.ledger.revoke()
    gateway.finish()

    assert peer.types[-2:] == ["response.completed", "error"]
    assert (peer.events[-1]["status"], peer.errors) == (401, ["invalid_api_key"])
    assert peer.closed_by == (1008, "invalid_api_key")
    assert len(gateway.ledger.records) == 1


def test_balance_is_looked_at_when_a_turn_begins() -> None:
    gateway = Gateway()
    gateway.secret = gateway.ledger.add_key("poor", credit=600_000)
    peer = gateway.socket()
    peer.create()
    peer.create()
    assert peer.errors == []
    gateway.finish()
    peer.create(input="x" * 200)
    gateway.finish()

    assert peer.errors == ["insufficient_balance"]
    assert peer.types.count("response.completed") == 2
    assert peer.close_code is None


# ---- the end


@pytest.mark.parametrize("active", [True, False])
def test_a_close_is_answered_with_the_same_code(active: bool) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    if active:
        peer.create()
    peer.close(1000)

    assert peer.close_code == 1000
    assert peer.transport.lost
    assert len(gateway.upstreams.calls) == active
    assert all(call.after == "dropped" for call in gateway.upstreams.calls)


@pytest.mark.parametrize("answered", [True, False])
def test_our_own_close_waits_a_moment_for_its_answer(answered: bool) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    gateway.app.drain()
    assert peer.close_code == 1012
    if answered:
        peer.close(1012)
        assert peer.transport.lost
        assert not peer.transport.reset
        return
    for _ in range(5):
        peer.frame(Opcode.PING, b"")
        gateway.clock.advance(limits.CLOSE_SECONDS / 4)
    assert peer.transport.reset


def test_draining_a_busy_socket_waits_for_its_turn_and_begins_no_other() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    gateway.app.drain()
    assert peer.close_code is None
    gateway.finish()

    assert peer.types[-2:] == ["response.completed", "error"]
    assert peer.errors == ["shutting_down"]
    assert peer.events[-1]["error"]["retryable"] is True
    assert peer.close_code == 1012
    assert len(gateway.upstreams.calls) == 1


@pytest.mark.parametrize("how", ["fin", "reset"])
def test_a_client_that_leaves_is_noticed(how: str) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created())
    peer.transport.finish() if how == "fin" else peer.transport.leave()
    gateway.clock.advance(1)

    assert gateway.call.after == "dropped"
    assert gateway.record["outcome"] == "client_disconnected"
    assert gateway.ledger.figures() == (0, 0)


def test_a_socket_that_is_over_leaves_nothing_behind() -> None:
    gateway = Gateway()
    before = gateway.clock.pending
    peer = gateway.socket()
    peer.create()
    gateway.finish()
    peer.close()
    gateway.clock.advance()

    assert not gateway.app.sockets
    assert not gateway.app.connections
    assert gateway.clock.pending == before
    assert "latchway_open_sockets 0.0" in gateway.app.ports.metrics.render().decode()


def test_frames_may_follow_the_handshake_in_one_read() -> None:
    gateway = Gateway()
    http = gateway.connect()
    http.transport.send(
        f"GET /v1/responses HTTP/1.1\r\nhost: g\r\nauthorization: Bearer {gateway.secret}\r\n"
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        + masked(Opcode.TEXT, b'{"type":"response.create",' + body()[1:])
    )
    gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 1
