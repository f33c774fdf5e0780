"""The opening, the closing and the record of one turn, with the real ledger behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.gateway import COST, WALL, Gateway, body, route, settings
from harness.prompt import prompt_bytes
from harness.upstreams import completed, created, failed, text
from latchway.settings import Price
from latchway.wire.frame import Frame

RESERVED = prompt_bytes(body()) * 2_000 + 100 * 4_000
"""A byte is at most a token; all output that the model can make."""
USD = "{:.9f}".format


def usd(nano: int) -> str:
    return USD(nano / 10**9)


def test_a_whole_turn_as_it_is_kept() -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.clock.advance(0.035)
    gateway.call.heads()
    gateway.call.sends(created())
    gateway.clock.advance(0.4)
    gateway.call.sends(text(), completed())
    gateway.clock.advance()
    record = gateway.record

    assert {
        "response_id": "resp_1", "key": "alice", "owner": "alice", "model": "m",
        "transport": "http", "streamed": True, "binding": "stateless", "first_output_ms": 435,
        "duration_ms": 435, "outcome": "completed", "code": None, "delivered": "output",
        "replayed": False, "served_by": "host/1", "started_at": "2026-11-30T00:53:20.000Z",
    }.items() <= record.items()  # fmt: skip
    assert record["billing"] == {
        "currency": "USD", "reserved": usd(RESERVED), "charged": usd(COST),
        "refunded": usd(RESERVED - COST), "usage_source": "upstream",
        "operator_loss": "0.000000000",
    }  # fmt: skip
    (attempt,) = record["attempts"]
    assert attempt["usage"] == {
        "input_tokens": 10, "cached_tokens": 0, "output_tokens": 5, "reasoning_tokens": 0,
    }  # fmt: skip
    assert (attempt["first_event_ms"], attempt["http_status"]) == (35, 200)
    assert attempt["upstream_request_id"] == "up_1"
    assert gateway.app.ports.wall() - WALL == pytest.approx(0.435)


def test_a_replayed_turn_is_reserved_once_and_both_attempts_are_kept() -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created("resp_1"), failed())
    gateway.clock.advance()
    gateway.call.heads()
    gateway.call.sends(created("resp_2"), text(), completed("resp_2"))
    gateway.clock.advance()
    first, second = gateway.record["attempts"]

    assert gateway.ledger.entries() == ["reserve", "charge", "release"]
    assert (first["route"], first["verdict"], first["rule"]) == ("a", "replay", "R2.1")
    assert (second["route"], second["verdict"], second["rule"]) == ("b", None, None)
    assert (first["cost"], second["cost"]) == ("0.000000000", usd(COST))
    assert (gateway.record["replayed"], gateway.record["response_id"]) == (True, "resp_2")


COSTS = Price(input=1_000_000_000, output=1_000_000_000, reasoning=1_000_000_000)


def test_what_a_failed_attempt_cost_is_the_operators_own() -> None:
    gateway = Gateway(settings(route("a", cost=COSTS)))
    peer = gateway.ask()
    gateway.call.heads()
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    gateway.call.sends(created(), failed("server_error", usage=usage))
    gateway.clock.advance()

    assert peer.answer.types[-1] == "response.failed"
    assert gateway.ledger.figures() == (0, 0)
    assert gateway.record["billing"]["operator_loss"] == "0.000015000"
    assert gateway.record["attempts"][0]["cost"] == "0.000015000"
    assert gateway.ledger.entries() == ["reserve", "release", "loss"]


LEFT, BROKE, STOPPED = "client_left", "upstream_broke", "gateway_stopped"


@pytest.mark.parametrize(
    ("happens", "source", "reason"),
    [
        (lambda gateway, peer: peer.transport.leave(), "estimated", None),
        (lambda gateway, peer: gateway.call.breaks(), "none", BROKE),
        (lambda gateway, peer: gateway.app.stop_turns(), "none", STOPPED),
    ],
    ids=[LEFT, BROKE, STOPPED],
)
def test_who_bears_what_was_delivered_and_not_metered(
    happens: Any, source: str, reason: str | None
) -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text("x" * 400))
    happens(gateway, peer)
    gateway.clock.advance()
    (row,) = gateway.ledger.connection.execute("SELECT loss, loss_reason, charged FROM turn")
    due = -(-prompt_bytes(body()) // 4) * 2_000 + 100 * 4_000

    assert gateway.record["billing"]["usage_source"] == source
    assert row == ((due, reason, 0) if reason else (0, None, due))


def bill_of(way: str) -> dict[str, Any]:
    """The bill of a turn that nobody metered, asked for in that way."""
    gateway = Gateway()
    if way == "websocket":
        gateway.socket().create(input="hi", store=False)
    else:
        gateway.ask(input="hi", store=False, stream=way == "streamed")
    gateway.call.heads()
    gateway.call.sends(created(), text("Hello"), completed(usage=None))
    gateway.clock.advance()
    bill: dict[str, Any] = gateway.record["billing"]
    return bill


def test_the_same_turn_costs_the_same_on_either_transport() -> None:
    """R5: what wraps a request is on no bill."""
    streamed = bill_of("streamed")
    assert streamed["usage_source"] == "estimated"
    assert bill_of("websocket") == streamed


def test_a_turn_that_is_not_streamed_reserves_as_much() -> None:
    assert bill_of("whole")["reserved"] == bill_of("streamed")["reserved"]


def frame_with(usage: Any) -> Frame:
    return completed(usage=usage)


@pytest.mark.parametrize(
    ("usage", "charged", "source"),
    [
        ({"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}, 0, "upstream"),
        (None, None, "estimated"),
        ({"input_tokens": -1, "output_tokens": 5}, None, "estimated"),
        ({"input_tokens": 10**12, "output_tokens": 5}, None, "estimated"),
        ({"input_tokens": 100_000, "output_tokens": 0}, RESERVED, "upstream"),
    ],
    ids=["zero", "missing", "negative", "absurd", "above the reservation"],
)
def test_usage_of_every_kind(usage: Any, charged: int | None, source: str) -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text("Hello"), frame_with(usage))
    gateway.clock.advance()
    guess = -(-prompt_bytes(body()) // 4) * 2_000 + 2 * 4_000

    assert gateway.record["billing"]["usage_source"] == source
    assert gateway.ledger.figures() == (guess if charged is None else charged, 0)


def test_a_free_model_reserves_and_charges_nothing() -> None:
    plain = settings()
    free = replace(plain.models["m"], free=True, price=Price(), max_output_tokens=None)
    gateway = Gateway(replace(plain, models={"m": free}))
    gateway.secret = gateway.ledger.add_key("poor", credit=0)
    gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()

    assert gateway.record["billing"]["reserved"] == "0.000000000"
    assert gateway.ledger.figures("poor") == (0, 0)
    assert gateway.ledger.states() == ["settled"]


def test_a_turn_without_a_reservation_has_no_money_in_its_record() -> None:
    gateway = Gateway()
    gateway.ledger.fails.add("reserve")
    gateway.ask()

    assert set(gateway.record["billing"].values()) == {"USD", "0.000000000", "none"}
    assert (gateway.record["attempts"], gateway.record["code"]) == ([], "ledger_unavailable")


def test_the_model_of_a_stranger_makes_no_new_series() -> None:
    gateway = Gateway()
    for number in range(10):
        gateway.ask(model=f"m{number}")
    figures = gateway.app.ports.metrics.render().decode()
    assert 'latchway_turns_total{model="other",outcome="failed",transport="http"} 10.0' in figures
    assert 'model="m1"' not in figures
