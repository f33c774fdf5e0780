"""What a turn costs, worked out once more from what its client was handed (R6, I-B4, I-B8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latchway.ledger.prices import format_usd
from sim import events, oracle
from sim.events import Tokens
from sim.people import PRICE

if TYPE_CHECKING:
    from sim.cases import Case
    from sim.upstream import Call

BYTES_PER_TOKEN = 4


def check(case: Case, record: dict[str, Any]) -> None:
    """The record's charge is the one that is due."""
    billing = record["billing"]
    charged, reserved = billing["charged"], billing["reserved"]
    if case.ledger_failed or not case.calls:
        case.check(charged == format_usd(0) or bool(case.ends), f"I-B4: charged {charged}")
        return
    if record["delivered"] == "output" and not case.handed_output and case.unreachable:
        return
    wanted = min(_due(case), _nano(reserved))
    case.check(charged == format_usd(wanted), f"R6: charged {charged}, due is {wanted} nano-USD")


def _due(case: Case) -> int:
    call = case.calls[-1]
    result = call.left == "released"
    tokens = oracle.tokens_of(call)
    if result:
        return _price(tokens) if tokens is not None else _estimate(case, call)
    if not case.handed_output:
        return 0
    if tokens is not None:
        return _price(tokens)
    billing = case.world.settings.billing
    failure = call.expected.failure if call.expected is not None else ""
    if failure == "client_disconnected":
        return _estimate(case, call) if billing.client_left == "estimate" else 0
    if failure == "gateway_stopped" or billing.upstream_broke == "free":
        return 0
    return _estimate(case, call)


def _price(tokens: Tokens) -> int:
    taken, cached, made, reasoning = tokens
    nano = (
        (taken - cached) * PRICE.input + cached * PRICE.cached_input
        + (made - reasoning) * PRICE.output + reasoning * PRICE.reasoning
    )  # fmt: skip
    return (nano + 500_000) // 1_000_000


def _estimate(case: Case, call: Call) -> int:
    """By what was asked and what came of text."""
    answer = call.script.answer
    if answer is not None and answer.event is not None:
        text = answer.event.text_bytes
    else:
        text = sum(event.text_bytes for event in _heard(call))
    taken = -(-case.prompt_bytes // BYTES_PER_TOKEN)
    return _price((taken, 0, -(-text // BYTES_PER_TOKEN), 0))


def _heard(call: Call) -> list[events.Event]:
    """What had been read of it when it ended."""
    heard = []
    for at, event in call.script.marks:
        if at > call.arrived_by_then:
            break
        heard.append(event)
        if event.kind in events.TERMINAL:
            break
    return heard


def _nano(usd: str) -> int:
    whole, fraction = usd.split(".")
    return int(whole) * 10**9 + int(fraction)
