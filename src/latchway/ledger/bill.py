"""From how a turn ended to what it costs whom (R6). Pure.

The charge is for the delivered attempt alone and never above the reservation. What else the turn
cost upstream is the operator's loss, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from latchway.ledger.prices import charge
from latchway.ledger.reservation import estimate
from latchway.log.record import Bill
from latchway.ports import Closing
from latchway.settings import Price
from latchway.turn.commands import Basis, Close
from latchway.values import Value, replace
from latchway.wire.frame import Usage

SOURCES = {
    Basis.USAGE: "upstream",
    Basis.ESTIMATE: "estimated",
    Basis.REFUND: "none",
    Basis.FORGIVEN: "none",
}


class Terms(Value, frozen=True):
    """What a turn's money is reckoned with. Amounts are nano-USD."""

    request_id: str
    price: Price
    costs: Mapping[str, Price]
    """What each route costs the operator."""
    prompt_bytes: int
    reserved: int


def close(command: Close, terms: Terms, why_forgiven: str) -> tuple[Closing, Bill]:
    """The ledger's closing and the log's bill. `why_forgiven`: who broke it, for the loss."""
    usage, full = _full_price(command, terms)
    charged = min(full, terms.reserved)
    loss, reason = _loss(command, terms, full - charged, why_forgiven)
    source = SOURCES[command.basis]
    counted = msgspec.to_builtins(usage) if usage is not None else None
    closing = Closing(
        request_id=terms.request_id,
        charge=charged,
        loss=loss,
        loss_reason=reason,
        basis=source,
        usage=counted,
        billed_attempt=command.attempt,
        response_id=command.response_id,
        route=command.route,
        made=command.made,
    )
    bill = Bill(terms.reserved, charged, loss, reason, source, counted)
    return closing, bill


def undone(charge: Closing, refund: Closing, reserved: int) -> tuple[Closing, Bill]:
    """The refund and the bill behind a charge that the ledger could not make durable: it has
    refunded the turn by itself (`ports.Ledger.close`), and what was to be charged is a loss."""
    loss = charge.loss + charge.charge
    reason = "ledger_unavailable" if loss else None
    closing = replace(refund, loss=loss, loss_reason=reason, undoes=True)
    return closing, Bill(reserved, 0, loss, reason)


def _full_price(command: Close, terms: Terms) -> tuple[Usage | None, int]:
    if command.basis is Basis.USAGE and command.usage is not None:
        return command.usage, charge(command.usage, terms.price)
    if command.basis is Basis.ESTIMATE:
        return estimate(terms.prompt_bytes, command.output_bytes, terms.price, terms.reserved)
    return None, 0


def _loss(command: Close, terms: Terms, above: int, why_forgiven: str) -> tuple[int, str | None]:
    """Everything that nobody is charged for; the first reason names it."""
    parts = [
        (above, "above_reservation"),
        (_forgiven(command, terms), why_forgiven),
        (_failed(command, terms), "failed_attempt"),
    ]
    named = [(amount, reason) for amount, reason in parts if amount]
    return sum(amount for amount, _ in named), named[0][1] if named else None


def _forgiven(command: Close, terms: Terms) -> int:
    """Delivered output that is not charged: estimated at what its route costs."""
    if command.basis is not Basis.FORGIVEN or command.route is None:
        return 0
    cost = terms.costs.get(command.route, terms.price)
    return estimate(terms.prompt_bytes, command.output_bytes, cost, terms.reserved)[1]


def _failed(command: Close, terms: Terms) -> int:
    return sum(attempt_cost(attempt.usage, attempt.route, terms) for attempt in command.unbilled)


def attempt_cost(usage: Usage | None, route: str, terms: Terms) -> int:
    """What an attempt cost the operator, as far as its usage is known."""
    if usage is None:
        return 0
    return charge(usage, terms.costs.get(route, terms.price))
