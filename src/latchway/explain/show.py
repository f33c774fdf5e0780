"""A plan, or a refusal, as JSON and as text of 100 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from latchway.explain.asked import Account
from latchway.explain.plan import Answer, Changes, Plan, Refusal, Reserved, RoutePlan
from latchway.ledger.prices import format_usd
from latchway.turn.decide import BOUND, SENTENCE, Verdict
from latchway.turn.events import Binding

COLUMNS = 100
LABEL = 13
"""Columns of what stands before the text."""

TOGETHER = "\N{NO-BREAK SPACE}"
"""A blank at which no line ends; printed as any other."""

BINDINGS = {
    Binding.STATELESS: "nothing ties it to a place",
    **{binding: SENTENCE[verdict] for binding, verdict in BOUND.items()},
}


def as_json(plan: Plan, unknown: Sequence[str]) -> dict[str, Any]:
    """What `--json` prints of a request that is not refused."""
    return {
        "refused": None,
        "model": plan.request.model,
        "transport": _transport(plan),
        "streamed": plan.request.streamed,
        "account": _account_json(plan.account),
        "binding": plan.binding.value,
        "bound_by": plan.field,
        "routes": [_route_json(route) for route in plan.routes],
        "can_be_replayed": any(answer.verdict is Verdict.REPLAY for answer in plan.answers),
        "failures": [_answer_json(answer) for answer in plan.answers],
        "reservation": _reserved_json(plan.reserved),
        "unknown": list(unknown),
    }


def refusal_as_json(refusal: Refusal) -> dict[str, Any]:
    """The same for one that is."""
    return {"refused": {"status": refusal.status, "error": refusal.error}}


def as_text(plan: Plan, unknown: Sequence[str]) -> str:
    """The same for people."""
    streamed = "streamed" if plan.request.streamed else "one JSON answer"
    lines = [
        *_entry("request", f"model {plan.request.model}, {_transport(plan)}, {streamed}"),
        *_entry("binding", _binding(plan)),
        *_labelled("routes", _route_lines(plan.routes)),
        *_labelled("sent", _sent_lines(plan.routes)),
        *_labelled("replay", _replay_lines(plan)),
        *_labelled("reservation", _reserved_lines(plan.reserved)),
        *_labelled("balance", _account_lines(plan.account)),
        *_labelled("not known", [line for each in unknown for line in _wrapped(each)]),
    ]
    return "\n".join(lines) + "\n"


def refusal_as_text(refusal: Refusal) -> str:
    """The same for people: the error as a client gets it."""
    error = json.dumps(refusal.error, indent=2, ensure_ascii=False)
    head = f"{refusal.status} {refusal.error['code']}, nothing is called"
    return "\n".join([*_entry("refused", head), error]) + "\n"


def _transport(plan: Plan) -> str:
    return "websocket" if plan.request.websocket else "http"


# ---- JSON


def _route_json(route: RoutePlan) -> dict[str, Any]:
    return {
        "route": route.route,
        "enabled": route.enabled,
        "first": route.first,
        "binding": route.binding.value,
        "replay_target": route.not_target is None,
        "why_not": route.not_target,
        "sent": {"set": route.changes.set, "dropped": list(route.changes.dropped)},
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    failure = answer.failure
    verdict = answer.verdict.value
    return {"failure": failure.name, "row": failure.rule, "verdict": verdict, "rule": answer.rule}


def _account_json(account: Account | None) -> dict[str, Any] | None:
    if account is None:
        return None
    available = None if account.unlimited else format_usd(account.available)
    return {"key": account.key, "owner": account.owner, "available": available}


def _reserved_json(reserved: Reserved | None) -> dict[str, Any] | None:
    if reserved is None:
        return None
    return {
        "amount": format_usd(reserved.amount),
        "input_tokens": reserved.input_tokens,
        "input_bound": reserved.input_bound,
        "input_price": format_usd(reserved.input_price),
        "output_tokens": reserved.output_tokens,
        "output_bound": reserved.output_bound,
        "output_price": format_usd(reserved.output_price),
    }


# ---- text


def _binding(plan: Plan) -> str:
    said = BINDINGS[plan.binding]
    if plan.binding is Binding.STATELESS:
        return f"stateless: {said}"
    by = f"`{plan.field}`" if plan.field else "`store`, which is left out: the route stores then"
    return f"{plan.binding.value}, by {by}: {said}"


def _route_lines(routes: Sequence[RoutePlan]) -> list[str]:
    width = max(len(route.route) for route in routes)
    return [f"{place}. {_route(route, width)}" for place, route in enumerate(routes, 1)]


def _route(route: RoutePlan, width: int) -> str:
    if route.first:
        fate = "called first"
    elif route.not_target is None:
        fate = "a replay can go there"
    else:
        fate = f"no replay goes there: {route.not_target}"
    return f"{route.route:<{width}}  {fate}"


def _sent_lines(routes: Sequence[RoutePlan]) -> list[str]:
    width = max(len(route.route) for route in routes)
    return [
        line
        for route in routes
        for line in _wrapped(f"{route.route:<{width}}  {_changes(route.changes)}")
    ]


def _changes(changes: Changes) -> str:
    if not changes.set and not changes.dropped:
        return "as it came, byte for byte"
    said = [f"{name}: {json.dumps(value)}" for name, value in changes.set.items()]
    return "; ".join([*said, *(f"without {name}" for name in changes.dropped)])


def _replay_lines(plan: Plan) -> list[str]:
    """The failures by their verdict, those that are replayed first."""
    groups: dict[Verdict, list[str]] = {}
    for answer in plan.answers:
        named = f"{answer.failure.name}{TOGETHER}({answer.failure.rule})"
        groups.setdefault(answer.verdict, []).append(named)
    ranked = sorted(groups, key=lambda verdict: verdict is not Verdict.REPLAY)
    head = "yes, once" if Verdict.REPLAY in groups else "never"
    lines = [f"{head}; before output, a failure gets this verdict:"]
    for verdict in ranked:
        lines += _wrapped(f"{verdict.value}: {SENTENCE[verdict]}")
        lines += [f"  {line}" for line in _wrapped(", ".join(groups[verdict]), 2)]
    return lines


def _reserved_lines(reserved: Reserved | None) -> list[str]:
    if reserved is None:
        return ["none: the model is free"]
    return [
        f"{format_usd(reserved.amount)} USD, the most that it can cost:",
        f"{reserved.input_tokens:>9} tokens in ({reserved.input_bound}),"
        f" at {_price(reserved.input_price)}",
        f"{reserved.output_tokens:>9} tokens out ({reserved.output_bound}),"
        f" at {_price(reserved.output_price)}",
    ]


def _account_lines(account: Account | None) -> list[str]:
    if account is None:
        return []
    if account.unlimited:
        return [f"{account.key} is unlimited"]
    return [f"{account.key} has {format_usd(account.available)} USD available"]


def _price(nano: int) -> str:
    return f"{format_usd(nano)} USD a million"


def _entry(label: str, text: str) -> Iterator[str]:
    return _labelled(label, _wrapped(text))


def _labelled(label: str, lines: Iterable[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"{'' if place else label:<{LABEL}}{line}"


def _wrapped(text: str, less: int = 0) -> list[str]:
    lines = textwrap.wrap(text, COLUMNS - LABEL - less, break_long_words=False)
    return [line.replace(TOGETHER, " ") for line in lines]
