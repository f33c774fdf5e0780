"""Requests come out whole, however their bytes come in; beyond the limits they are refused."""

from __future__ import annotations

import pytest

from lab.harness import request
from latchway.lab import intake
from latchway.lab.calls import Received
from latchway.lab.intake import Intake, Refused


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_requests_in_any_pieces(size: int) -> None:
    came: list[Received] = []
    reader = Intake(came.append)
    data = request(path="/a", model="m") + request("GET", "/b", close=True)
    for at in range(0, len(data), size):
        assert reader.feed(data[at : at + size]) is None
    assert [(one.method, one.path, one.body) for one in came] == [
        ("POST", "/a", b'{"model": "m"}'),
        ("GET", "/b", b""),
    ]
    assert [one.keep_alive for one in came] == [True, False]


def test_what_follows_a_websockets_handshake_is_given_back() -> None:
    came: list[Received] = []
    head = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n"
    assert Intake(came.append).feed(head + b"\x81") == b"\x81"
    assert came[0].transport == "websocket"


def test_another_upgrade_is_a_plain_request() -> None:
    came: list[Received] = []
    Intake(came.append).feed(b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
    assert (came[0].transport, came[0].keep_alive) == ("http", False)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01 is TLS", 400),
        (b"GET /" + b"a" * intake.MAX_HEAD_BYTES + b" HTTP/1.1\r\n", 431),
        (b"GET / HTTP/1.1\r\na: " + b"b" * intake.MAX_HEAD_BYTES + b"\r\n\r\n", 431),
    ],
)
def test_what_cannot_be_read_has_a_status(data: bytes, status: int) -> None:
    with pytest.raises(Refused) as refused:
        Intake(lambda received: None).feed(data)
    assert refused.value.status == status


def test_a_body_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_BODY_BYTES", 10)
    with pytest.raises(Refused, match="the body is over 10 bytes"):
        Intake(lambda received: None).feed(request(model="a longer one"))
