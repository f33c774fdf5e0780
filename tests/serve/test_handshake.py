"""Who gets a WebSocket, and what the others are told before any upgrade."""

from __future__ import annotations

import pytest

from harness.gateway import Gateway
from harness.websocket import HANDSHAKE


def test_a_handshake_is_answered_as_the_standard_says() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.request("GET", "/v1/responses", None, **HANDSHAKE)
    head = bytes(peer.transport.taken).lower()

    assert head.startswith(b"http/1.1 101 ")
    assert b"sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n" in head
    assert b"x-request-id: req_" in head
    assert b"sec-websocket-extensions" not in head
    assert head.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "more",
    [
        {"sec_websocket_extensions": "permessage-deflate; client_max_window_bits"},
        {"openai_beta": "responses_websockets=2026-02-06"},
        {"sec_websocket_protocol": "something"},
        {"upgrade": "WebSocket"},
        {"connection": "keep-alive, Upgrade"},
    ],
)
def test_what_else_a_handshake_may_say(more: dict[str, str]) -> None:
    gateway = Gateway()
    peer = gateway.socket(**more)
    peer.create()
    assert len(gateway.upstreams.calls) == 1


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"authorization": None}, 401, "invalid_api_key"),
        ({"authorization": "Bearer wrong"}, 401, "invalid_api_key"),
        ({"sec_websocket_key": None}, 400, "invalid_request"),
        ({"sec_websocket_key": "short"}, 400, "invalid_request"),
        ({"sec_websocket_version": None}, 400, "invalid_request"),
        ({"sec_websocket_version": "12"}, 400, "invalid_request"),
        ({"connection": "keep-alive"}, 405, "method_not_allowed"),
        ({"upgrade": "h2c"}, 405, "method_not_allowed"),
    ],
)
def test_a_handshake_that_is_refused(
    changed: dict[str, str | None], status: int, code: str
) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.request("GET", "/v1/responses", None, **{**HANDSHAKE, **changed})

    assert (peer.answer.status, peer.answer.code) == (status, code)
    assert not gateway.app.sockets


@pytest.mark.parametrize(
    "path",
    ["/v1/models", "/health/live", "/nowhere", "/v1/responses/", "//v1/responses", "/admin/keys"],
)
def test_a_handshake_elsewhere(path: str) -> None:
    peer = Gateway().connect()
    peer.request("GET", path, None, **HANDSHAKE)
    assert (peer.answer.status, peer.answer.code) == (404, "not_found")


def test_a_revoked_key_opens_nothing() -> None:
    gateway = Gateway()
    gateway.ledger.revoke()
    peer = gateway.connect()
    peer.request("GET", "/v1/responses", None, **HANDSHAKE)
    assert peer.answer.code == "invalid_api_key"


def test_headers_of_the_handshake_hold_for_every_turn() -> None:
    gateway = Gateway()
    peer = gateway.socket(x_latchway_route="b", session_id="s-1")
    for _ in range(2):
        peer.create()
        assert gateway.call.place.route == "b"
        assert gateway.call.request.client_headers == (("session-id", "s-1"),)
        gateway.call.breaks()
        gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 2
