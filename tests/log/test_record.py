"""The record of a turn, as `latchway requests show --json` prints it."""

from __future__ import annotations

import json

from latchway.log.record import Asked, Bill, iso, record, with_costs
from latchway.turn.commands import Delivered
from log.finishes import FAILED, REPLAYED, finish

NOON = 1795953600.0
ASKED = Asked("req_1", "alice", "team", "m", "http", True, NOON)
BILL = Bill(
    reserved=500_000_000,
    charged=100_000,
    source="upstream",
    usage={"input_tokens": 10, "output_tokens": 5},
    costs=(0, 80_000),
)

WHOLE = {
    "request_id": "req_1",
    "response_id": "resp_2",
    "key": "alice",
    "owner": "team",
    "model": "m",
    "transport": "http",
    "streamed": True,
    "binding": "stateless",
    "started_at": "2026-11-29T12:00:00.000Z",
    "first_output_ms": 412,
    "duration_ms": 2210,
    "outcome": "completed",
    "code": None,
    "delivered": "output",
    "replayed": True,
    "served_by": "host/7",
    "attempts": [
        {
            "number": 1,
            "route": "primary/m",
            "outcome": "failed",
            "failure": "retryable_event",
            "rule": "R2.1",
            "code": "server_is_overloaded",
            "verdict": "replay",
            "reason": None,
            "http_status": 200,
            "upstream_request_id": "up_1",
            "response_id": "resp_1",
            "started_at": "2026-11-29T12:00:00.001Z",
            "first_event_ms": 35,
            "ended_ms": 301,
            "usage": None,
            "cost": "0.000000000",
        },
        {
            "number": 2,
            "route": "backup/m",
            "outcome": "completed",
            "failure": None,
            "rule": None,
            "code": None,
            "verdict": None,
            "reason": None,
            "http_status": 200,
            "upstream_request_id": "up_2",
            "response_id": "resp_2",
            "started_at": "2026-11-29T12:00:00.302Z",
            "first_event_ms": 40,
            "ended_ms": 1907,
            "usage": {
                "input_tokens": 10,
                "cached_tokens": 0,
                "output_tokens": 5,
                "reasoning_tokens": 0,
            },
            "cost": "0.000080000",
        },
    ],
    "billing": {
        "currency": "USD",
        "reserved": "0.500000000",
        "charged": "0.000100000",
        "refunded": "0.499900000",
        "usage_source": "upstream",
        "operator_loss": "0.000000000",
    },
}


def test_a_replayed_turn_is_recorded_whole_and_in_order() -> None:
    made = record(REPLAYED, ASKED, BILL, served_by="host/7")

    assert made == WHOLE
    assert list(made) == list(WHOLE)
    assert json.loads(json.dumps(made)) == WHOLE


def test_a_turn_refused_before_any_call_has_no_attempts_and_no_money() -> None:
    refused = finish(
        outcome="failed",
        code="insufficient_balance",
        binding=None,
        delivered=Delivered.NOTHING,
        response_id=None,
        first_output=None,
    )

    made = record(refused, ASKED, Bill(), served_by="host/7")

    assert made["attempts"] == []
    assert made["binding"] == "stateless"
    assert made["delivered"] == "nothing"
    assert made["first_output_ms"] is None
    assert made["billing"] == {
        "currency": "USD",
        "reserved": "0.000000000",
        "charged": "0.000000000",
        "refunded": "0.000000000",
        "usage_source": "none",
        "operator_loss": "0.000000000",
    }


def test_an_attempt_whose_cost_is_not_known_cost_nothing() -> None:
    made = record(finish(FAILED), ASKED, Bill(loss=7), served_by="host/7")

    assert made["attempts"][0]["cost"] == "0.000000000"
    assert made["billing"]["operator_loss"] == "0.000000007"


def test_costs_are_added_to_a_bill_and_change_nothing_else() -> None:
    priced = with_costs(BILL, (1, 2))

    assert priced.costs == (1, 2)
    assert with_costs(priced, BILL.costs) == BILL


def test_times_are_utc_with_milliseconds() -> None:
    assert iso(0.0) == "1970-01-01T00:00:00.000Z"
    assert iso(1.5) == "1970-01-01T00:00:01.500Z"
