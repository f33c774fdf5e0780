"""The same request over either transport, and what is said of it."""

from __future__ import annotations

from typing import Any

from harness.gateway import Gateway

HTTP = "http"
TRANSPORTS = (HTTP, "websocket")


def told(gateway: Gateway, transport: str, message: bytes) -> tuple[int, dict[str, Any]]:
    """Status and error of the answer to a body, or to a `response.create` of the same members."""
    if transport == HTTP:
        peer = gateway.connect()
        peer.post(message)
        assert peer.answer.code
        return peer.answer.status, peer.answer.json["error"]
    socket = gateway.socket()
    socket.text(message.replace(b"{", b'{"type":"response.create",', 1))
    (frame,) = socket.events
    assert socket.close_code is None
    return frame["status"], frame["error"]
