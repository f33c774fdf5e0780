"""What a turn costs whom: each way it can end, in sums (R6)."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.ledger.bill import Terms, attempt_cost, close, undone
from latchway.log.record import Bill
from latchway.settings import Price
from latchway.turn.commands import AttemptRecord, Basis, Close
from latchway.wire.frame import Usage

PRICE = Price(
    input=2_000_000, cached_input=500_000, cache_write=2_000_000, output=4_000_000,
    reasoning=4_000_000,
)  # fmt: skip
CHEAP = Price(input=1_000_000, output=1_000_000, reasoning=1_000_000)
"""What route b costs the operator."""
TEN_FIVE = Usage(input_tokens=10, output_tokens=5)
COST = 10 * 2 + 5 * 4
RESERVED = 100
TERMS = Terms(
    request_id="req_1", price=PRICE, costs={"b": CHEAP}, prompt_bytes=40, reserved=RESERVED
)


def command(basis: Basis, **said: Any) -> Close:
    values: dict[str, Any] = {
        "attempt": 1 if basis in (Basis.USAGE, Basis.ESTIMATE) else None,
        "usage": TEN_FIVE if basis is Basis.USAGE else None,
        "output_bytes": 20,
        "response_id": "resp_1",
        "route": "a",
    }
    return Close(basis=basis, **values | said)


def attempt(usage: Usage | None, route: str = "a") -> AttemptRecord:
    return AttemptRecord(
        number=1, route=route, outcome="failed", failure="retryable_event", own_rule="R2.1",
        rule="R2.1", code="server_error", verdict="replay", http_status=200,
        upstream_request_id=None, response_id=None, began=0.0, first_event=None, ended=1.0,
        usage=usage, usage_absurd=False, reason=None, output_bytes=0,
    )  # fmt: skip


MUCH = Usage(input_tokens=100, output_tokens=5)
NONE = Usage(input_tokens=0, output_tokens=0)


@pytest.mark.parametrize(
    ("ended", "charge", "loss", "reason", "source"),
    [
        (command(Basis.USAGE), COST, 0, None, "upstream"),
        (command(Basis.USAGE, usage=NONE), 0, 0, None, "upstream"),
        (command(Basis.USAGE, usage=MUCH), RESERVED, 120, "above_reservation", "upstream"),
        (command(Basis.ESTIMATE), 10 * 2 + 5 * 4, 0, None, "estimated"),
        (command(Basis.ESTIMATE, output_bytes=4000), RESERVED, 0, None, "estimated"),
        (command(Basis.REFUND), 0, 0, None, "none"),
        (command(Basis.FORGIVEN), 0, 40, "broke", "none"),
        (command(Basis.FORGIVEN, route="b"), 0, 15, "broke", "none"),
        (command(Basis.REFUND, unbilled=(attempt(TEN_FIVE),)), 0, COST, "failed_attempt", "none"),
        (command(Basis.REFUND, unbilled=(attempt(None),)), 0, 0, None, "none"),
        (command(Basis.USAGE, unbilled=(attempt(TEN_FIVE, "b"),)), COST, 15, "failed_attempt",
         "upstream"),
        (command(Basis.USAGE, usage=MUCH, unbilled=(attempt(TEN_FIVE),)), RESERVED, 120 + COST,
         "above_reservation", "upstream"),
    ],
)  # fmt: skip
def test_how_the_money_ends(
    ended: Close, charge: int, loss: int, reason: str | None, source: str
) -> None:
    closing, bill = close(ended, TERMS, why_forgiven="broke")

    assert (closing.charge, closing.loss, closing.loss_reason) == (charge, loss, reason)
    assert closing.basis == source
    assert (bill.reserved, bill.charged, bill.loss, bill.loss_reason, bill.source) == (
        RESERVED, charge, loss, reason, source,
    )  # fmt: skip


def test_what_was_metered_is_written_down_and_an_estimate_is_marked() -> None:
    metered, _ = close(command(Basis.USAGE), TERMS, why_forgiven="")
    guessed, _ = close(command(Basis.ESTIMATE), TERMS, why_forgiven="")
    nothing, _ = close(command(Basis.REFUND), TERMS, why_forgiven="")

    assert metered.usage == {
        "input_tokens": 10, "output_tokens": 5, "cached_tokens": 0, "cache_write_tokens": 0,
        "reasoning_tokens": 0,
    }  # fmt: skip
    assert guessed.usage == metered.usage
    assert nothing.usage is None
    assert (metered.billed_attempt, nothing.billed_attempt) == (1, None)
    assert (metered.response_id, metered.route) == ("resp_1", "a")


@pytest.mark.parametrize(
    ("usage", "route", "cost"),
    [(TEN_FIVE, "a", COST), (TEN_FIVE, "b", 15), (None, "a", 0), (NONE, "a", 0)],
)
def test_what_an_attempt_cost_the_operator(usage: Usage | None, route: str, cost: int) -> None:
    assert attempt_cost(usage, route, TERMS) == cost


@pytest.mark.parametrize(
    ("ended", "loss", "reason"),
    [
        (command(Basis.USAGE), COST, "ledger_unavailable"),
        (command(Basis.ESTIMATE), COST, "ledger_unavailable"),
        (command(Basis.USAGE, usage=MUCH), RESERVED + 120, "ledger_unavailable"),
        (command(Basis.USAGE, usage=NONE), 0, None),
    ],
)
def test_a_charge_that_is_not_durable_is_the_operators_loss(
    ended: Close, loss: int, reason: str | None
) -> None:
    """The log says what the ledger does by itself."""
    refund = close(command(Basis.REFUND), TERMS, "broke")[0]
    closing, bill = undone(close(ended, TERMS, "broke")[0], refund, RESERVED)
    assert (closing.charge, closing.loss, closing.loss_reason, closing.basis) == (
        0, loss, reason, "none",
    )  # fmt: skip
    assert (closing.usage, closing.billed_attempt, closing.response_id) == (None, None, "resp_1")
    assert closing.undoes
    assert not refund.undoes
    assert bill == Bill(RESERVED, 0, loss, reason)
