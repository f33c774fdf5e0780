"""A client's WebSocket: turns one after another, frames of every kind, and its age (R8)."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from harness.gateway import COST, Gateway, body
from harness.upstreams import completed, created, error, event, failed, text
from harness.websocket import SocketPeer
from latchway.serve import limits
from latchway.settings import LimitSettings, WebsocketSettings

AGE = "websocket_connection_limit_reached"
MINUTE = 60.0


def finish(gateway: Gateway, id: str = "resp_1") -> None:
    gateway.call.heads()
    gateway.call.sends(created(id), text(), completed(id))
    gateway.clock.advance()


def live(gateway: Gateway, peer: SocketPeer, minutes: float) -> None:
    """Minutes go by, and the client answers the pings."""
    seconds = minutes * MINUTE
    while seconds > 0:
        step = min(seconds, limits.PING_SECONDS)
        gateway.clock.advance(step)
        peer.frame(Opcode.PONG, b"")
        seconds -= step


# ---- turns


def test_turns_one_after_another() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    for number in range(3):
        peer.create()
        finish(gateway, f"resp_{number}")

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
        finish(gateway, f"resp_{number}")
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
        finish(gateway)
    assert peer.types.count("response.completed") == queue + 1


def test_the_queue_is_bounded_in_bytes_too() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
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

    finish(gateway)
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
    finish(gateway, "resp_2")

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


# ---- messages that are no turn

NO_TURNS: list[tuple[dict[str, Any], str, str | None]] = [
    ({"type": "response.cancel"}, "unsupported_parameter", "type"),
    ({"type": "response.append"}, "unsupported_parameter", "type"),
    ({"type": "session.update"}, "unsupported_parameter", "type"),
    ({"type": 7}, "unsupported_parameter", "type"),
    ({"type": None}, "unsupported_parameter", "type"),
    ({}, "unsupported_parameter", "type"),
    ({"type": "response.create", "model": "m", "background": True}, "unsupported_parameter",
     "background"),
    ({"type": "response.create", "model": "m", "stream_id": "lane"}, "unsupported_parameter",
     "stream_id"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "code", "param"), NO_TURNS)
def test_what_is_not_supported_is_said_and_the_connection_stays(
    message: dict[str, Any], code: str, param: str | None
) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.say(**{"type": None, **message})
    (frame,) = peer.events

    assert (frame["status"], frame["error"]["code"]) == (400, code)
    assert frame["error"]["param"] == param
    assert frame.get("stream_id") == message.get("stream_id")
    peer.create()
    assert len(gateway.upstreams.calls) == 1


@pytest.mark.parametrize("fragments", [1, 3])
def test_a_binary_message_is_refused_once(fragments: int) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    data = b'{"type":"response.create","model":"m","input":"hi"}'
    for number in range(fragments):
        opcode = Opcode.BINARY if number == 0 else Opcode.CONT
        peer.frame(opcode, data, fin=number == fragments - 1)

    assert peer.errors == ["invalid_request"]
    assert gateway.upstreams.calls == []
    peer.create()
    assert len(gateway.upstreams.calls) == 1


def test_what_is_refused_at_once_does_not_end_the_active_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.say("response.cancel")
    peer.frame(Opcode.BINARY, b"\0")
    finish(gateway)

    assert peer.types == [
        "error", "error", "response.created", "response.output_text.delta", "response.completed",
    ]  # fmt: skip


STEERS = [
    ({"previous_response_id": "resp_1"}, "resp_1", None),
    ({"previous_response_id": "resp_1", "stream_id": "lane"}, "resp_1", "lane"),
    ({"previous_response_id": ["x"], "stream_id": 7}, None, None),
    ({"previous_response_id": "x" * 10_000}, None, None),
    ({}, None, None),
]


@pytest.mark.parametrize(("members", "response_id", "lane"), STEERS)
def test_steering_fails_without_an_error(
    members: dict[str, Any], response_id: str | None, lane: str | None
) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.say("response.steer", **members)
    (answer,) = peer.events

    assert answer["type"] == "response.steer.failed"
    assert answer["error"]["code"] == "steering_not_supported"
    assert answer["previous_response_id"] == response_id
    assert answer.get("stream_id") == lane
    finish(gateway)
    assert peer.types[-1] == "response.completed"


def test_what_is_processed_is_not_answered() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.say("response.processed", response_id="resp_1")
    assert peer.frames == []


HOSTILE = [
    b'{"type":"response.steer","previous_response_id":1e999}',
    b'{"type":"response.steer","previous_response_id":"\\ud800"}',
    b'{"type":"response.steer","previous_response_id":' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    b'{"type":"response.create","stream_id":1e999}',
    b'{"type":"response.create","stream_id":"' + b"x" * 10**5 + b'"}',
    b'{"type":1' + b"0" * 5000 + b"}",
    b'{"type":"' + b"x" * 10**5 + b'"}',
    b'{"type":"response.create","type":"response.cancel"}',
    b'"response.create"',
    b"[" * 10**5,
    b"",
    b"\0",
]


@pytest.mark.parametrize("message", HOSTILE, ids=range(len(HOSTILE)))
def test_no_message_breaks_the_connection(message: bytes) -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.text(message)
    (answer,) = peer.events
    assert len(str(answer)) < 2000

    peer.create()
    assert len(gateway.upstreams.calls) == 1


# ---- frames


def test_a_message_may_come_in_fragments_with_control_frames_between() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    data = b'{"type":"response.create","model":"m","input":"hi"}'
    peer.frame(Opcode.TEXT, data[:5], fin=False)
    peer.frame(Opcode.PING, b"are you there")
    peer.frame(Opcode.CONT, b"", fin=False)
    for byte in data[5:-1]:
        peer.frame(Opcode.CONT, bytes((byte,)), fin=False)
    peer.frame(Opcode.CONT, data[-1:])

    (pong,) = peer.frames
    assert (pong.opcode, pong.data) == (Opcode.PONG, b"are you there")
    assert gateway.call.request.body == data


def test_frames_that_come_byte_by_byte() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    data = b'{"type":"response.create","model":"m","input":"hi"}'
    for byte in Frame(Opcode.TEXT, data).serialize(mask=True):
        peer.send(bytes((byte,)))
    assert gateway.call.request.body == data


def masked(opcode: Opcode, data: bytes, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


BROKEN = {
    "not masked": (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
    "a reserved bit": (b"\xc1\x80\0\0\0\0", 1002),
    "a reserved opcode": (b"\x83\x80\0\0\0\0", 1002),
    "a long ping": (b"\x89\xfe\x00\x80\0\0\0\0" + b"x" * 128, 1002),
    "a ping in parts": (b"\x09\x80\0\0\0\0", 1002),
    "a continuation of nothing": (masked(Opcode.CONT, b"x"), 1002),
    "a message within a message": (
        masked(Opcode.TEXT, b"x", False) + masked(Opcode.TEXT, b"y"), 1002,
    ),
    "text that is not UTF-8": (masked(Opcode.TEXT, b"\xff"), 1007),
    "half a character": (masked(Opcode.TEXT, b'{"type":"\xc3'), 1007),
    "a close of one byte": (masked(Opcode.CLOSE, b"\x03"), 1002),
    "a message over the bound": (masked(Opcode.TEXT, b"x" * 2001), 1009),
    "a frame that says it is huge": (b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"\0" * 4, 1009),
    "fragments over the bound": (
        masked(Opcode.TEXT, b"x" * 1500, False) + masked(Opcode.CONT, b"x" * 501), 1009,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("active", [True, False])
def test_a_client_that_breaks_the_protocol_is_closed(case: str, active: bool) -> None:
    data, code = BROKEN[case]
    gateway = Gateway(websocket=WebsocketSettings(max_message_bytes=2000))
    peer = gateway.socket()
    if active:
        peer.create()
    peer.send(data + masked(Opcode.TEXT, b'{"type":"response.create","model":"m"}'))
    gateway.clock.advance(limits.CLOSE_SECONDS)

    assert peer.close_code == code
    assert peer.transport.lost
    assert len(gateway.upstreams.calls) == active
    assert gateway.ledger.states() == ["void"] * active
    assert not gateway.app.sockets


def test_a_create_over_the_request_limit_is_refused_in_its_turn_and_not_kept() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.socket()
    peer.create()
    for _ in range(3):
        peer.create(input="x" * 1000)
    assert peer.errors == []
    finish(gateway)

    assert peer.errors == ["request_too_large"] * 3
    assert peer.events[-1]["status"] == 413
    assert peer.close_code is None


def test_a_very_large_event_goes_in_fragments() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(text("x" * (limits.FRAGMENT_BYTES + 1)))

    assert [(frame.opcode, frame.fin) for frame in peer.frames] == [(1, False), (0, True)]
    assert max(len(frame.data) for frame in peer.frames) == limits.FRAGMENT_BYTES
    assert peer.types == ["response.output_text.delta"]


# ---- keys


def test_a_revoked_key_ends_the_socket_at_its_next_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket()
    peer.create()
    peer.create()
    peer.create()
    gateway.ledger.revoke()
    finish(gateway)

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
    finish(gateway)
    peer.create(input="x" * 200)
    finish(gateway)

    assert peer.errors == ["insufficient_balance"]
    assert peer.types.count("response.completed") == 2
    assert peer.close_code is None


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
    gateway.call.sends(created("resp_3"))
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
    finish(gateway)

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
    finish(gateway)
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
