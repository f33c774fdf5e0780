"""The record of a turn: what `latchway requests show --json` prints, made once when it has ended.

It names every attempt, the failed one included, with its verdict and why (R7). It holds no prompt,
no output text and no credential: it is made from the turn's `Finish` and from sums alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from latchway.ledger.prices import format_usd
from latchway.turn.commands import AttemptRecord, Finish
from latchway.values import Value, replace
from latchway.wire.frame import Usage

SECONDS_KEPT = 64
"""Written out: turns that end together began within a few of the same seconds."""


class Bill(Value, frozen=True):
    """How a turn's money ended. Amounts are nano-USD."""

    reserved: int = 0
    """0 also if the turn ended before its reservation."""
    charged: int = 0
    loss: int = 0
    """What the operator bears."""
    loss_reason: str | None = None
    source: str = "none"
    """Where the charged usage is from: upstream | estimated | none."""
    usage: Mapping[str, int] | None = None
    """The charged tokens by the names of `wire.frame.Usage`."""
    costs: tuple[int, ...] = ()
    """What each attempt cost the operator, in order; those not known are left out at the end."""


def with_costs(bill: Bill, costs: tuple[int, ...]) -> Bill:
    """The same bill, with what each attempt cost the operator."""
    return replace(bill, costs=costs)


class Asked(Value, frozen=True):
    """Who asked for the turn, and how. `started_at`: Unix time in seconds of `Finish.began`."""

    request_id: str
    key: str
    owner: str
    model: str
    transport: str
    """http | websocket"""
    streamed: bool
    started_at: float


def record(finish: Finish, asked: Asked, bill: Bill, *, served_by: str) -> dict[str, Any]:
    """The whole record, ready for JSON. `served_by`: host/pid of this process."""
    return {
        "request_id": asked.request_id,
        "response_id": finish.response_id,
        "key": asked.key,
        "owner": asked.owner,
        "model": asked.model,
        "transport": asked.transport,
        "streamed": asked.streamed,
        "binding": finish.binding.value if finish.binding else "stateless",
        "started_at": iso(asked.started_at),
        "first_output_ms": _ms(finish.began, finish.first_output),
        "duration_ms": _ms(finish.began, finish.ended),
        "outcome": finish.outcome,
        "code": finish.code,
        "delivered": finish.delivered.name.lower(),
        "replayed": finish.replayed,
        "served_by": served_by,
        "attempts": [
            _attempt(attempt, asked.started_at - finish.began, cost)
            for attempt, cost in zip(finish.attempts, _padded(bill.costs, finish), strict=True)
        ],
        "billing": _billing(bill),
    }


def iso(unix: float) -> str:
    """Unix seconds as 2026-11-29T12:00:00.000Z."""
    seconds, micros = divmod(round(unix * 1_000_000), 1_000_000)
    return f"{_iso_second(seconds)}.{micros // 1000:03d}Z"


@lru_cache(maxsize=SECONDS_KEPT)
def _iso_second(unix: int) -> str:
    return datetime.fromtimestamp(unix, UTC).replace(tzinfo=None).isoformat()


def _attempt(attempt: AttemptRecord, to_unix: float, cost: int) -> dict[str, Any]:
    """`to_unix`: what turns a time on the turn's clock into Unix seconds."""
    return {
        "number": attempt.number,
        "route": attempt.route,
        "outcome": attempt.outcome,
        "failure": attempt.failure,
        "rule": attempt.rule,
        "code": attempt.code,
        "verdict": attempt.verdict,
        "reason": attempt.reason,
        "http_status": attempt.http_status,
        "upstream_request_id": attempt.upstream_request_id,
        "response_id": attempt.response_id,
        "started_at": iso(attempt.began + to_unix),
        "first_event_ms": _ms(attempt.began, attempt.first_event),
        "ended_ms": _ms(attempt.began, attempt.ended),
        "usage": _usage(attempt.usage),
        "cost": format_usd(cost),
    }


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _billing(bill: Bill) -> dict[str, str]:
    return {
        "currency": "USD",
        "reserved": format_usd(bill.reserved),
        "charged": format_usd(bill.charged),
        "refunded": format_usd(bill.reserved - bill.charged),
        "usage_source": bill.source,
        "operator_loss": format_usd(bill.loss),
    }


def _padded(costs: tuple[int, ...], finish: Finish) -> tuple[int, ...]:
    return costs + (0,) * (len(finish.attempts) - len(costs))


def _ms(since: float, moment: float | None) -> int | None:
    return None if moment is None else round((moment - since) * 1000)
