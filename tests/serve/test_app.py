"""Which requests begin a turn, what is said of those that do not, and how the gateway leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway import Gateway, body, route, settings
from harness.upstreams import completed, created, failed, text
from latchway.settings import BillingSettings, LimitSettings

HTTP = "http"
TRANSPORTS = (HTTP, "websocket")

# ---- requests that begin nothing, on both transports


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
    gateway.call.heads()
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()
    peer.post(body())

    assert [answer.status for answer in peer.answers] == [200, 401]
    assert len(gateway.ledger.records) == 1


# ---- turns that are left before output


def leave(gateway: Gateway) -> None:
    """A turn is called, and its client leaves before output."""
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created())
    peer.transport.leave()
    gateway.clock.advance()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_few_turns_a_minute_are_left_for_free(transport: str) -> None:
    gateway = Gateway(billing=BillingSettings(free_aborts_per_minute=2))
    leave(gateway)
    gateway.clock.advance(20)
    leave(gateway)
    gateway.clock.advance(10)

    status, error = told(gateway, transport, body())
    assert (status, error["code"], error["retryable"]) == (429, "rate_limit_exceeded", True)
    assert error["retry_after"] == 30
    assert "try again in 30 s" in error["message"]
    assert gateway.ledger.figures() == (0, 0)

    gateway.clock.advance(31)
    gateway.ask()
    assert len(gateway.upstreams.calls) == 3


def test_a_key_pays_for_what_it_left_not_for_what_others_left() -> None:
    gateway = Gateway(billing=BillingSettings(free_aborts_per_minute=1))
    leave(gateway)
    gateway.secret = gateway.ledger.add_key("bob")
    gateway.ask()
    assert len(gateway.upstreams.calls) == 2


def test_who_leaves_behind_output_pays_and_is_not_counted() -> None:
    gateway = Gateway(billing=BillingSettings(free_aborts_per_minute=1))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text())
    peer.transport.leave()
    gateway.clock.advance()
    assert gateway.record["billing"]["usage_source"] == "estimated"
    assert gateway.ledger.figures()[0] > 0

    gateway.ask()
    assert len(gateway.upstreams.calls) == 2


# ---- the client leaves


def test_who_leaves_behind_the_terminal_event_has_paid_each_time() -> None:
    gateway = Gateway()
    for _ in range(200):
        peer = gateway.ask()
        gateway.call.heads()
        gateway.call.sends(created(), text(), completed())
        gateway.clock.advance()
        assert peer.answer.types[-1] == "response.completed"
        peer.transport.leave()

    assert gateway.ledger.states() == ["settled"] * 200
    assert gateway.ledger.figures() == (200 * 40_000, 0)


def test_who_leaves_while_the_result_is_written_down_has_paid() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.ledger.holds = True
    gateway.call.sends(created(), text(), completed())
    peer.transport.leave()
    gateway.ledger.answer()

    assert gateway.ledger.states() == ["settled"]
    assert gateway.record["outcome"] == "client_disconnected"


def test_who_leaves_while_the_reservation_is_written_down_calls_nothing() -> None:
    gateway = Gateway()
    gateway.ledger.holds = True
    peer = gateway.connect()
    peer.post(body())
    peer.transport.leave()
    gateway.ledger.answer()

    assert gateway.upstreams.calls == []
    assert gateway.ledger.states() == ["void"]


def test_who_leaves_between_two_attempts_is_not_called_again() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.ledger.holds = True
    gateway.call.sends(created(), failed())
    peer.transport.leave()
    gateway.ledger.answer()

    assert len(gateway.upstreams.calls) == 1
    assert gateway.ledger.states() == ["void"]


# ---- the gateway leaves


def test_draining_closes_what_is_idle_and_nothing_else() -> None:
    gateway = Gateway()
    idle, socket = gateway.connect(), gateway.socket()
    turn = gateway.ask()
    sending = gateway.connect()
    sending.request("POST", "/v1/responses", None, content_length=str(len(body())))
    gateway.app.drain()
    gateway.clock.advance()

    assert idle.closed
    assert socket.closed_by == (1012, "shutting_down")
    assert not turn.transport.lost
    sending.send(body())
    assert (sending.answer.status, sending.answer.code) == (503, "shutting_down")
    assert sending.answer.json["error"]["retryable"] is True
    assert sending.closed


def test_a_turn_that_runs_is_finished_and_then_its_connection_is_closed() -> None:
    gateway = Gateway()
    over: list[bool] = []
    gateway.app.drained = lambda: over.append(True)
    peer = gateway.ask()
    gateway.app.drain()
    gateway.call.heads()
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()

    assert peer.answer.types[-1] == "response.completed"
    assert peer.answer.whole
    assert peer.closed
    assert over == [True]


@pytest.mark.parametrize("output", [True, False])
def test_a_turn_that_has_no_more_time_is_told_and_closed_in_the_ledger(output: bool) -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    if output:
        gateway.call.sends(created(), text())
    gateway.app.drain()
    gateway.app.stop_turns()
    gateway.clock.advance()

    if output:
        assert peer.answer.types[-2:] == ["error", "response.failed"]
        assert peer.answer.events[-1]["response"]["error"]["code"] == "shutting_down"
    else:
        assert (peer.answer.status, peer.answer.code) == (503, "shutting_down")
        assert peer.answer.headers["x-should-retry"] == "false"
    assert gateway.ledger.figures() == (0, 0)
    assert gateway.ledger.states() == ["void"]
    assert not gateway.app.turns


def test_a_new_connection_while_draining_is_told_so() -> None:
    gateway = Gateway()
    gateway.app.drain()
    peer = gateway.connect()
    peer.request("GET", "/v1/responses", connection="upgrade", upgrade="websocket")
    assert (peer.answer.status, peer.answer.code) == (503, "shutting_down")


# ---- what no log may hold

CANARIES = ("prompt-canary", "output-canary", "tool-canary")


def test_no_secret_no_prompt_and_no_output_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    gateway = Gateway()
    prompt = {"input": CANARIES[0], "tools": [{"type": "function", "name": CANARIES[2]}]}
    for end in (completed(), failed("server_error"), None):
        gateway.ask(**prompt)
        gateway.call.heads()
        gateway.call.sends(created(), text(CANARIES[1]))
        if end is None:
            gateway.call.breaks()
        else:
            gateway.call.sends(end)
        gateway.clock.advance()
    gateway.ask(**prompt | {"model": "none"})

    kept = "\n".join(gateway.ledger.connection.iterdump()) + caplog.text
    kept += json.dumps(gateway.ledger.records) + gateway.app.ports.metrics.render().decode()
    assert len(gateway.ledger.records) == 4
    for canary in (*CANARIES, gateway.secret, gateway.secret.rpartition("_")[2]):
        assert canary not in kept


@pytest.mark.parametrize(
    "name", ["a\nb", "a\r\nb", "\x1b[31m", "\u2028", "\0", "\u202e", "a" * 513, "%s%n"]
)
def test_a_model_of_any_name_is_one_line_in_the_log(name: str) -> None:
    gateway = Gateway(limits=LimitSettings())
    peer = gateway.ask(model=name)
    assert peer.answer.status in (400, 404)

    (row,) = gateway.ledger.connection.execute("SELECT record FROM log").fetchone()
    assert json.loads(row)["code"] == peer.answer.code
    assert "\n" not in row
    assert peer.answer.body.isascii()
    assert b"\n" not in peer.answer.body
