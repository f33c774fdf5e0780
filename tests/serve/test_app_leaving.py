"""Who leaves a turn and what it costs; how the gateway leaves; what no log may hold."""

from __future__ import annotations

import json

import pytest

from harness.gateway import Gateway, body
from harness.upstreams import completed, created, failed, text
from latchway.settings import BillingSettings, LimitSettings
from serve.asking import TRANSPORTS, told

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
    gateway = Gateway(billing=BillingSettings(free_aborts_per_minute=1))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.ledger.holds = True
    gateway.call.sends(created(), text(), completed())
    peer.transport.leave()
    gateway.ledger.answer()

    assert gateway.ledger.states() == ["settled"]
    assert gateway.record["outcome"] == "client_disconnected"
    gateway.ask()
    assert len(gateway.upstreams.calls) == 2


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
    gateway.finish()

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


def test_the_gateway_waits_for_last_bytes_to_be_taken() -> None:
    gateway = Gateway()
    over: list[bool] = []
    slow, socket = gateway.connect(slow=True), gateway.socket()
    slow.post(body())
    gateway.finish()
    gateway.app.emptied = lambda: over.append(True)
    gateway.app.drain()
    gateway.app.close_connections()
    socket.close(1012)
    gateway.clock.advance()
    assert over == []

    slow.transport.take()
    gateway.clock.advance()
    assert over == [True]
    assert slow.answer.types[-1] == "response.completed"


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
