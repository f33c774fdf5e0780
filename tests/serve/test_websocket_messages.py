"""What a client may send over WebSocket that is no turn, and what no frame may be (R8)."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from harness.gateway import Gateway
from harness.upstreams import text
from harness.websocket import masked
from latchway.serve import limits
from latchway.settings import LimitSettings, WebsocketSettings

AGE = "websocket_connection_limit_reached"
MINUTE = 60.0


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
    gateway.finish()

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
    gateway.finish()
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


@pytest.mark.parametrize("case", BROKEN)
def test_a_client_that_is_still_sending_is_told_why_it_is_closed(case: str) -> None:
    """A close over unread bytes would be a reset, and the close code might not arrive."""
    data, code = BROKEN[case]
    gateway = Gateway(websocket=WebsocketSettings(max_message_bytes=2000))
    peer = gateway.socket()
    peer.send(data)
    assert peer.close_code == code
    assert peer.transport.eof_written
    peer.send(masked(Opcode.TEXT, b"x" * 2001))
    assert not peer.transport.lost

    peer.transport.finish()
    gateway.clock.advance()
    assert peer.transport.lost
    assert not peer.transport.reset


def test_a_create_over_the_request_limit_is_refused_in_its_turn_and_not_kept() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.socket()
    peer.create()
    for _ in range(3):
        peer.create(input="x" * 1000)
    assert peer.errors == []
    gateway.finish()

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
