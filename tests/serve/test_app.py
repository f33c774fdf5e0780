"""Which requests begin a turn, and what is said of those that do not."""

from __future__ import annotations

import gc
import weakref

import pytest

from harness.gateway import Gateway, body, route, settings
from serve.asking import HTTP, TRANSPORTS, told

# ---- requests that begin nothing, on both transports


BAD = {
    "no JSON": (b"{model", 400, "invalid_json", None),
    "JSON that ends too early": (body()[:-1], 400, "invalid_json", None),
    "a NaN": (b'{"model": "m", "temperature": NaN}', 400, "invalid_json", None),
    "no model": (b'{ "input": "hi"}', 400, "invalid_request", "model"),
    "a model of no name": (body(model=""), 400, "invalid_request", "model"),
    "a model that is none": (body(model=7), 400, "invalid_request", "model"),
    "a model that is unknown": (body(model="other"), 404, "model_not_found", "model"),
    "a model said twice": (
        b'{"model": "m", "model": "x", "input": ""}', 400, "invalid_request", "model",
    ),
    "a warm-up": (body(generate=False), 400, "unsupported_parameter", "generate"),
    "a flag that is none": (body(store="yes"), 400, "invalid_request", "store"),
    "input that is none": (body(input=7), 400, "invalid_request", "input"),
    "tokens below one": (body(max_output_tokens=0), 400, "invalid_request", "max_output_tokens"),
    "an unknown response": (
        body(previous_response_id="resp_0"), 400, "previous_response_not_found",
        "previous_response_id",
    ),
    "an unknown conversation": (
        body(conversation="conv_0"), 400, "conversation_not_found", "conversation",
    ),
    "too deep": (body(input=[]).replace(b"[]", b"[" * 5000 + b"]" * 5000), 400,
                 "invalid_request", None),
}  # fmt: skip


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_by_name(case: str, transport: str) -> None:
    message, status, code, param = BAD[case]
    gateway = Gateway()
    seen, error = told(gateway, transport, message)

    assert (seen, error["code"]) == (status, code)
    assert param is None or error["param"] == param
    assert error["retryable"] is False
    assert gateway.upstreams.calls == []
    assert gateway.ledger.asked == []
    assert (gateway.record["code"], gateway.record["attempts"]) == (code, [])


@pytest.mark.parametrize("message", [b"[]", b'"text"', b"7", b"null", b""])
def test_a_body_that_is_no_object(message: bytes) -> None:
    peer = Gateway().connect()
    peer.post(message)
    assert peer.answer.status == 400
    assert peer.answer.code in ("invalid_json", "invalid_request")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_too_little_balance(transport: str) -> None:
    gateway = Gateway()
    gateway.secret = gateway.ledger.add_key("poor", credit=400)
    status, error = 0, {}
    if transport == HTTP:
        peer = gateway.ask()
        status, error = peer.answer.status, peer.answer.json["error"]
        assert peer.answer.headers["x-should-retry"] == "false"
    else:
        socket = gateway.socket()
        socket.create()
        status, error = socket.events[0]["status"], socket.events[0]["error"]

    assert (status, error["code"]) == (402, "insufficient_balance")
    assert " USD is needed" in error["message"]
    assert gateway.upstreams.calls == []
    assert gateway.ledger.entries() == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_route(transport: str) -> None:
    gateway = Gateway(settings(route("a", enabled=False)))
    status, error = told(gateway, transport, body())
    assert (status, error["code"], error["retryable"]) == (503, "no_route_available", True)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_ledger_that_cannot_write(transport: str) -> None:
    gateway = Gateway()
    gateway.ledger.fails.add("reserve")
    status, error = told(gateway, transport, body())
    assert (status, error["code"], error["retryable"]) == (503, "ledger_unavailable", True)
    assert error["retry_after"] == 1
    assert gateway.upstreams.calls == []


# ---- over HTTP alone


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"content_type": "text/plain"}, 415, "unsupported_media_type"),
        ({"content_type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
        ({"content_type": "multipart/form-data; boundary=x"}, 415, "unsupported_media_type"),
        ({"content_encoding": "gzip"}, 415, "unsupported_media_type"),
        ({"content_encoding": "gzip, identity"}, 415, "unsupported_media_type"),
        ({"authorization": None}, 401, "invalid_api_key"),
        ({"authorization": None, "content_type": "text/plain"}, 401, "invalid_api_key"),
        ({"x_latchway_route": "nowhere"}, 400, "invalid_request"),
    ],
)
def test_a_head_that_is_refused(headers: dict[str, str | None], status: int, code: str) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.post(body(), **headers)
    assert (peer.answer.status, peer.answer.code) == (status, code)
    assert gateway.upstreams.calls == []


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/json"},
        {"content_type": "application/json; charset=utf-8"},
        {"content_type": "Application/JSON"},
        {"content_type": "application/vnd.api+json"},
        {"content_encoding": "identity"},
        {"content_encoding": ""},
        {},
    ],
)
def test_a_head_that_is_taken(headers: dict[str, str | None]) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.post(body(), **headers)
    assert len(gateway.upstreams.calls) == 1


@pytest.mark.parametrize(
    "authorization",
    ["Bearer {key}x", "Bearer {key} {key}", "Basic {key}", "{key}", "Bearer  ", "Token {key}"],
)
def test_a_key_that_is_none(authorization: str) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.post(body(), authorization=authorization.format(key=gateway.secret))
    assert (peer.answer.status, peer.answer.code) == (401, "invalid_api_key")
    assert peer.answer.headers["x-should-retry"] == "false"
    assert gateway.ledger.records == []


def test_two_keys_are_none() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    line = f"authorization: Bearer {gateway.secret}\r\n"
    peer.send(f"GET /v1/models HTTP/1.1\r\nhost: g\r\n{line}{line}\r\n".encode())
    assert peer.answer.code == "invalid_api_key"


def test_a_revoked_key_holds_for_the_next_turn_on_the_same_connection() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.ledger.revoke()
    gateway.finish()
    peer.post(body())

    assert [answer.status for answer in peer.answers] == [200, 401]
    assert len(gateway.ledger.records) == 1


def test_a_turn_that_is_over_leaves_the_collector_nothing() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gone = weakref.ref(next(iter(gateway.app.turns)))
    gc.disable()
    try:
        gateway.finish()
        gateway.upstreams.calls.clear()
        assert peer.answer.status == 200
        assert gone() is None
    finally:
        gc.enable()
