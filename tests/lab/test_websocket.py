"""Over WebSockets, by the client of the `websockets` library and by bare frames."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from lab.harness import PATIENCE, Running, read_to_end, read_until, running

CREATE = json.dumps({"type": "response.create", "model": "m", "input": "one two"})


@contextmanager
def joined(lab: Running) -> Iterator[ClientConnection]:
    url = f"ws://127.0.0.1:{lab.port}/v1/responses"
    with connect(url, open_timeout=PATIENCE, close_timeout=PATIENCE, proxy=None) as client:
        yield client


def turn(client: ClientConnection, count: int) -> list[Any]:
    client.send(CREATE)
    return [json.loads(client.recv(PATIENCE)) for _ in range(count)]


@contextmanager
def bare(lab: Running) -> Iterator[socket.socket]:
    """A connection after its handshake, for frames byte by byte."""
    with lab.connect() as connection:
        key = base64.b64encode(b"0123456789abcdef").decode()
        connection.sendall(
            b"GET /v1/responses HTTP/1.1\r\nHost: lab\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: " + key.encode() + b"\r\n\r\n"
        )
        assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 101 ")
        yield connection


def frame(opcode: int, payload: bytes, fin: bool = True) -> bytes:
    """A client's frame; a mask of zeros leaves the payload readable."""
    assert len(payload) < 126
    return bytes([fin << 7 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


def test_a_turn_has_the_same_events_as_over_http() -> None:
    script = [{"events": ["created", {"comment": "x"}, {"text": "Hi"}, "completed", "done"]}]
    with running(script) as lab, joined(lab) as client:
        events = turn(client, 3)
        call = lab.over()
    kinds = [event["type"] for event in events]
    assert kinds == ["response.created", "response.output_text.delta", "response.completed"]
    assert (call.outcome, call.events, call.json["model"]) == ("clean", 3, "m")


def test_a_socket_takes_one_call_after_another() -> None:
    script = [{"events": [{"created": "resp_1"}]}, {"events": [{"created": "resp_2"}]}]
    with running(script) as lab, joined(lab) as client:
        client.send(CREATE)
        client.send(CREATE)
        ids = [json.loads(client.recv(PATIENCE))["response"]["id"] for _ in range(2)]
        assert ids == ["resp_1", "resp_2"]
        lab.over(2)
        assert [call.connection for call in lab.lab.calls] == [1, 1]


def test_other_messages_are_no_calls() -> None:
    with running([{"events": ["created"]}]) as lab, joined(lab) as client:
        client.send('{"type": "response.processed"}')
        turn(client, 1)
        lab.over()
        assert len(lab.lab.calls) == 1


def test_a_scripted_close_frame() -> None:
    script = [{"events": ["created", {"close": {"code": 1011, "reason": "broken"}}]}]
    with running(script) as lab, joined(lab) as client:
        turn(client, 1)
        with pytest.raises(ConnectionClosedError) as closed:
            client.recv(PATIENCE)
        call = lab.over()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1011, "broken")
    assert (call.outcome, call.left) == ("closed 1011", None)


def test_a_clean_end_closes_with_1000() -> None:
    with running([{"events": [{"end": "clean"}]}]) as lab, joined(lab) as client:
        client.send(CREATE)
        with pytest.raises(ConnectionClosedOK):
            client.recv(PATIENCE)


def test_a_cut_sends_no_close_frame() -> None:
    with running([{"events": [{"end": "cut"}]}]) as lab, bare(lab) as connection:
        connection.sendall(frame(1, CREATE.encode()))
        assert read_to_end(connection) == b""
        assert lab.over().outcome == "cut"


@pytest.mark.parametrize(
    "reply", [{"events": ["reset"]}, {"no_head": True, "events": [{"wait": 0}]}]
)
def test_a_reset(reply: dict[str, Any]) -> None:
    healthy = {"routes": [{"when": {"model": "m"}, "calls": [reply]}, {"calls": [{"body": "x"}]}]}
    with running(healthy) as lab, bare(lab) as connection:
        connection.sendall(frame(1, CREATE.encode()))
        with pytest.raises(ConnectionResetError):
            read_to_end(connection)


def test_an_error_status_refuses_the_handshake() -> None:
    body = {"error": {"code": "slow_down"}}
    script = [{"status": 503, "body": body, "headers": {"retry-after": 1}}, {"events": ["created"]}]
    with running(script) as lab:
        with pytest.raises(InvalidStatus) as refused, joined(lab):
            pass
        with joined(lab) as client:
            turn(client, 1)
        assert lab.over().outcome == "refused"
    response = refused.value.response
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert json.loads(response.body or b"") == body


def test_a_handshake_that_no_route_fits_is_accepted() -> None:
    routes = [{"when": {"model": "m"}, "calls": [{"events": ["created"]}]}]
    with running({"routes": routes}) as lab, joined(lab) as client:
        assert turn(client, 1)[0]["type"] == "response.created"
        client.send(json.dumps({"type": "response.create", "model": "n"}))
        refused = json.loads(client.recv(PATIENCE))
        assert (refused["status"], refused["error"]["code"]) == (404, "model_not_found")
        assert [call.reply for call in lab.lab.calls] == ["routes[0].calls[0]", "none"]


def test_no_head_resets_the_handshake() -> None:
    with running([{"no_head": True}]) as lab:
        with pytest.raises((ConnectionResetError, EOFError)), bare(lab):
            pass
        assert lab.over().outcome == "reset"


def test_an_error_status_on_an_open_socket_is_a_wrapped_error() -> None:
    script = [{"events": ["created"]}, {"status": 429, "body": {"error": {"code": "slow_down"}}}]
    with running(script) as lab, joined(lab) as client:
        turn(client, 1)
        assert turn(client, 1) == [{"type": "error", "status": 429, "error": {"code": "slow_down"}}]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"body": {"n": 1}}, {"n": 1}),
        ({"status": 503}, {"message": "Service Unavailable", "code": None}),
        ({"status": 429, "body": "Slowly!"}, {"message": "Slowly!", "code": None}),
    ],
)
def test_whole_bodies_are_one_message(reply: dict[str, Any], message: dict[str, Any]) -> None:
    script = [{"events": ["created"]}, {"head_delay": 0.001, **reply}]
    with running(script) as lab, joined(lab) as client:
        turn(client, 1)
        (came,) = turn(client, 1)
        assert came.get("error", came) == message


def test_raw_and_binary_messages() -> None:
    script = [{"events": [{"raw": "{torn"}, {"binary": {"base64": "/wA="}}]}]
    with running(script) as lab, joined(lab) as client:
        client.send(CREATE)
        assert client.recv(PATIENCE) == "{torn"
        assert client.recv(PATIENCE) == b"\xff\x00"


def test_split_cuts_frames_and_nothing_comes_between() -> None:
    long = "x" * 3000
    with running([{"split": 1, "events": [{"text": long}]}]) as lab, joined(lab) as client:
        client.send(CREATE)
        pongs = [client.ping() for _ in range(20)]
        assert json.loads(client.recv(PATIENCE))["delta"] == long
        assert all(pong.wait(PATIENCE) for pong in pongs)


def test_pings_are_answered() -> None:
    with running([{"events": ["created"]}]) as lab, joined(lab) as client:
        assert client.ping().wait(PATIENCE)


def test_pings_can_go_unanswered() -> None:
    with running([{"pong": False, "events": [{"raw": "after"}]}]) as lab, bare(lab) as connection:
        connection.sendall(frame(9, b"p") + frame(1, CREATE.encode()))
        assert read_until(connection, b"after") == b"\x81\x05after"


def test_pings_of_its_own() -> None:
    with running([{"events": [{"ping": "p"}, {"raw": "x"}]}]) as lab, bare(lab) as connection:
        connection.sendall(frame(1, CREATE.encode()))
        assert read_until(connection, b"x") == b"\x89\x01p\x81\x01x"


def test_a_message_may_come_in_fragments() -> None:
    with running([{"echo": True}]) as lab, bare(lab) as connection:
        text = CREATE.encode()
        connection.sendall(frame(1, text[:9], fin=False) + frame(0, text[9:]))
        assert lab.over().body == text


@pytest.mark.parametrize(
    ("last", "left"),
    [
        (frame(8, struct.pack("!H", 1001)), "close 1001"),
        (b"", "closed"),
        (b"\xff\xff", "close 1006"),
    ],
)
def test_how_the_other_side_left_is_remembered(last: bytes, left: str) -> None:
    with running([{"events": ["silence"]}]) as lab:
        with bare(lab) as connection:
            connection.sendall(frame(1, CREATE.encode()))
            lab.until(lambda: lab.lab.calls)
            connection.sendall(last)
            if last:
                read_to_end(connection)
        call = lab.over()
    assert (call.outcome, call.left) == ("left", left)


def test_a_handshake_that_breaks_the_protocol_is_refused() -> None:
    with running([{"events": ["created"]}]) as lab, lab.connect() as connection:
        connection.sendall(
            b"GET / HTTP/1.1\r\nHost: lab\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        )
        assert read_to_end(connection).startswith(b"HTTP/1.1 400 ")
        assert lab.lab.calls == []
