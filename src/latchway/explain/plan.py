"""One request, put to the gateway's own functions: refused, or what would become of it.

What only a running gateway knows (which routes are set aside, how many replays are in flight) is
taken as it is in a quiet hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from latchway.explain.asked import Account
from latchway.ledger import reservation
from latchway.routes import select
from latchway.routes.table import PIN_HEADER, Known, RouteTable
from latchway.serve.creates import sort_message
from latchway.serve.stream import failure as told
from latchway.settings import Model, Route, Settings
from latchway.terms import terms_of
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn import failures
from latchway.turn.commands import Delivered
from latchway.turn.decide import BOUND, Situation, Verdict, decide, rule_of
from latchway.turn.events import Binding, Place
from latchway.turn.failures import Failure
from latchway.turn.machine import Turn
from latchway.wire import request as requests
from latchway.wire.members import members_of
from latchway.wire.request import Request, RequestFault, upstream_body

CREATE = "response.create"

NOT_A_ROUTES = frozenset({"client_disconnected", "gateway_stopped"})
"""Names of failures that no route has."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a client would get instead of a turn."""

    status: int
    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """How what goes up differs from what came; nothing of it: byte for byte the same."""

    set: dict[str, Any]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """One route of the model. `not_target`: a verdict, or in words why no replay goes there."""

    route: str
    enabled: bool
    first: bool
    binding: Binding
    not_target: str | None
    changes: Changes


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rule says of one failure before output, with its row."""

    failure: Failure
    verdict: Verdict
    rule: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """The reservation, in nano-USD, and what it is the product of. `…_bound`: what bounds them."""

    amount: int
    input_tokens: int
    input_bound: str
    input_price: int
    output_tokens: int
    output_bound: str
    output_price: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What would become of a request that is not refused.

    `account`: who was named. `field`: what binds it, as a path in the body, or a header.
    """

    request: Request
    account: Account | None
    binding: Binding
    field: str | None
    routes: tuple[RoutePlan, ...]
    answers: tuple[Answer, ...]
    reserved: Reserved | None
    """None: the model is free."""


def read(
    body: bytes, headers: Mapping[str, str], settings: Settings, *, websocket: bool
) -> Request:
    """A body as the gateway reads it; over a WebSocket it becomes a `response.create`. Raises
    RequestFault. `headers`: by lower-case name."""
    most = settings.limits.request_bytes
    if websocket:
        body = _as_create(body, most)
    elif len(body) > most:
        raise RequestFault("request_too_large", f"The body is over {most} bytes.")
    return requests.parse(
        body,
        websocket=websocket,
        pinned_route=headers.get(PIN_HEADER),
        headers=headers,
    )


def refused(fault: RequestFault) -> Refusal:
    """The answer to a request that cannot be read, or may not be sent."""
    fail = do.Fail(fault.code, None, False, param=fault.param, message=str(fault) or None)
    return Refusal(*told(fail))


def plan(
    request: Request, settings: Settings, known: Known, account: Account | None
) -> Plan | Refusal:
    """What would become of it. `account`: None, nobody is named and every balance suffices."""
    if account is not None and account.revoked:
        return refused(RequestFault("invalid_api_key", ""))
    turn = Turn(terms_of(request, settings), lambda: True)
    turn.handle(on.Begin(), 0.0)
    choice = RouteTable(settings, known).first(request, account.owner if account else "")
    if choice.place is None:
        code = choice.code or "no_route_available"
        return _refusal(turn, on.NoRoute(code, choice.param, choice.message))
    turn.handle(on.RouteChosen(choice.place), 0.0)
    amount = reservation.amount(settings.models[request.model], request)
    if account is not None and not account.unlimited and amount > account.available:
        return _refusal(turn, on.Denied(amount, account.available))
    return _plan(request, settings, account, choice.place)


def _as_create(body: bytes, most: int) -> bytes:
    fields = members_of(body)
    create = body if "type" in fields else msgspec.json.encode({"type": CREATE, **fields})
    _, fault, _ = sort_message(create, most)
    if fault is not None:
        raise fault
    return create


def _refusal(turn: Turn, event: on.NoRoute | on.Denied) -> Refusal:
    """The turn's own words for it."""
    fails = [it for it in turn.handle(event, 0.0) if isinstance(it, do.Fail)]
    return Refusal(*told(fails[0]))


def _plan(request: Request, settings: Settings, account: Account | None, place: Place) -> Plan:
    model = settings.models[request.model]
    answers = tuple(_answers(request, settings, place))
    return Plan(
        request=request,
        account=account,
        binding=place.binding,
        field=_binding_field(request, place.binding),
        routes=tuple(_routes(request, settings, model, place, answers)),
        answers=answers,
        reserved=None if model.free else _reserved(model, request),
    )


def _binding_field(request: Request, binding: Binding) -> str | None:
    """The path in the body, or the header, of what binds; None: nothing, or what is left out."""
    if binding is Binding.STATELESS or (binding is Binding.STORED and request.store is None):
        return None
    if binding is Binding.STORED:
        return "store"
    if binding is Binding.CONTINUATION:
        return "previous_response_id" if request.previous_response_id else "conversation"
    return request.origin_field or request.encrypted_field or PIN_HEADER


# ---- the rule


def _answers(request: Request, settings: Settings, place: Place) -> list[Answer]:
    """What `decide` says of each failure that a first attempt can have before its output."""
    found: dict[tuple[str, str], Answer] = {}
    for failure in vars(failures).values():
        if isinstance(failure, Failure) and failure.name not in NOT_A_ROUTES:
            verdict = decide(_situation(request, settings, place, failure))
            answer = Answer(failure, verdict, rule_of(verdict, failure))
            found.setdefault((failure.name, failure.rule), answer)
    return list(found.values())


def _situation(request: Request, settings: Settings, place: Place, failure: Failure) -> Situation:
    return Situation(
        client_here=True,
        delivered=Delivered.NOTHING,
        binding=place.binding,
        kindred=place.kindred,
        attempt=1,
        observed=False,
        failure=failure,
        acting_tools=terms_of(request, settings).acting_tools,
        replay_room=True,
        another_route=place.another,
    )


# ---- the routes


def _routes(
    request: Request, settings: Settings, model: Model, place: Place, answers: Sequence[Answer]
) -> list[RoutePlan]:
    omitted = settings.turn.store_when_omitted
    first = next(route for route in model.routes if route.name == place.route)
    targets = select.targets(request, model.routes, first, omitted)
    never = _never(answers)
    plans = []
    for route in model.routes:
        binding = select.binding_at(request, route, omitted)
        why = None if never is None and route in targets else _why_not(route, first, binding, never)
        changes = _changes(request, route, omitted)
        plans.append(RoutePlan(route.name, route.enabled, route is first, binding, why, changes))
    return plans


def _never(answers: Sequence[Answer]) -> str | None:
    """The verdict that a turn bound as this one has on every failure, if it has one."""
    verdicts = {answer.verdict for answer in answers}
    return next(iter(verdicts)).value if verdicts <= set(BOUND.values()) else None


def _why_not(route: Route, first: Route, binding: Binding, never: str | None) -> str:
    if route is first:
        return "it is called first"
    if not route.enabled:
        return "disabled"
    return never or BOUND[binding].value


def _changes(request: Request, route: Route, omitted: str) -> Changes:
    """Both bodies are read and compared, so that what is said is what is sent."""
    sent = members_of(
        upstream_body(
            request,
            model=route.upstream_model,
            store_when_omitted=omitted,
            drop_fields=route.drop_fields,
        )
    )
    return Changes(
        set={
            name: msgspec.json.decode(value)
            for name, value in sent.items()
            if name not in request.fields or bytes(request.fields[name]) != bytes(value)
        },
        dropped=tuple(name for name in request.fields if name not in sent),
    )


# ---- the money


def _reserved(model: Model, request: Request) -> Reserved:
    tokens_in = reservation.most_input(model, request)
    tokens_out = reservation.most_output(model, request)
    by_size = tokens_in == request.prompt_bytes and not request.partial_input
    by_request = tokens_out == request.max_output_tokens
    of_input, of_output = reservation.dearest(model.price)
    return Reserved(
        amount=reservation.amount(model, request),
        input_tokens=tokens_in,
        input_bound="the request's bytes" if by_size else "the model's context_tokens",
        input_price=of_input,
        output_tokens=tokens_out,
        output_bound=f"the {'request' if by_request else 'model'}'s max_output_tokens",
        output_price=of_output,
    )
