"""The routes of one process: what is configured, how each fares, and the port that chooses.

Every choice is told to the health of the chosen route, which takes the first one after a time
aside as its try.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from latchway.log.record import iso
from latchway.ports import Choice
from latchway.routes import select
from latchway.routes.budget import Budget
from latchway.routes.health import HEALTHY, Health
from latchway.settings import Model, Route, Settings
from latchway.turn.events import Place
from latchway.wire.marks import mark
from latchway.wire.request import Request

PIN_HEADER = "x-latchway-route"

NO_SUCH_PIN = f"{PIN_HEADER} names no route of this model; name one of its routes, or none."
PINNED_ELSEWHERE = (
    f"{PIN_HEADER} names another route than the one that made {{}}, and only there"
    " can it be continued; leave the header out."
)
MADE_APART = "This response and this conversation are kept in two places; send one of them."
CONTINUED = {
    "conversation": "conversation_not_found",
    "previous_response_id": "previous_response_not_found",
}
"""Fields of a request that continue something, and the refusal if nobody knows it (R3)."""
NO_CONTEXT_TOKENS = (
    "Not all of this request's input is in it, and the model's context_tokens, which would bound"
    " its cost, is not configured; send the whole input, or have context_tokens set."
)


NOT_YOURS = (
    "This holds what no response of this key's owner has made; send items as they came, with the"
    " key that got them."
)


class Known(Protocol):
    """The part of `ports.Ledger` that is asked here."""

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None: ...
    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool: ...


class RouteTable:
    """`ports.Routes`. `known`: whose is what a request holds, and who made it.

    `now` is the clock that `attempt_ended` is told; `unix` gives seconds since 1970, for people.
    """

    def __init__(
        self,
        settings: Settings,
        known: Known,
        now: Callable[[], float] = time.monotonic,
        unix: Callable[[], float] = time.time,
    ) -> None:
        self._settings, self._known = settings, known
        self._now, self._unix = now, unix
        self._omitted = settings.turn.store_when_omitted
        self._health: dict[str, Health] = {}
        self._budget = Budget(settings.replay)
        routes = [route for model in settings.models.values() for route in model.routes]
        self._by_name = {route.name: route for route in routes}

    # ---- choices

    def first(self, request: Request, owner: str) -> Choice:
        """The route of the first attempt, or the code of the refusal. Nothing has been called."""
        route = self.route_for(request, owner)
        if isinstance(route, Choice):
            return route
        model = self._settings.models[request.model]
        if request.partial_input and model.context_tokens is None and not model.free:
            return Choice(None, "invalid_request", _outside(request), NO_CONTEXT_TOKENS)
        return Choice(self._place(request, route, model))

    def route_for(self, request: Request, owner: str) -> Route | Choice:
        """Where a turn with this request would be called first; a Choice: why it would not."""
        model = self._settings.models.get(request.model)
        if model is None:
            return Choice(None, "model_not_found", "model")
        pin = request.pinned_route
        if pin is not None and pin not in {route.name for route in model.routes}:
            return Choice(None, "invalid_request", PIN_HEADER, NO_SUCH_PIN)
        if request.held and self._known.is_anothers(owner, request.held):
            return Choice(None, "invalid_request", _holder(request), NOT_YOURS)
        made_by = self._made_by(request, owner)
        if isinstance(made_by, Choice):
            return made_by
        route = self._first_route(request, model, made_by, owner)
        if route is None:
            return Choice(None, "no_route_available")
        if pin not in (None, route.name):
            elsewhere = PINNED_ELSEWHERE.format(_continued(request))
            return Choice(None, "invalid_request", PIN_HEADER, elsewhere)
        return route

    def replay(self, request: Request, failed: str) -> Place | None:
        """The route of the second attempt; None: there is none that it may go to."""
        model = self._settings.models[request.model]
        routes = select.targets(request, model.routes, _named(model, failed), self._omitted)
        routes.sort(key=self._is_aside_route)
        return self._place(request, routes[0], model) if routes else None

    # ---- what happened

    def replay_room(self) -> bool:
        """Is one more replay allowed beside those in flight (R10)?"""
        return self._budget.room

    def turn_began(self) -> None:
        self._budget.turn_began()

    def replay_began(self) -> None:
        self._budget.replay_began()

    def turn_ended(self, replayed: bool) -> None:
        self._budget.turn_ended(replayed)

    def attempt_ended(self, route: str, rule: str | None, now: float) -> None:
        """`rule`: the row of the failure itself, None for a result."""
        if self._settings.health.enabled:
            health = self._health.get(route, HEALTHY)
            self._health[route] = health.ended(rule, now, self._settings.health)

    def routes_state(self, now: float) -> list[dict[str, Any]]:
        """What `/admin/routes` shows. `state`: ready | set_aside | disabled."""
        return [
            self._state(route, model.name, now)
            for model in self._settings.models.values()
            for route in model.routes
        ]

    # ---- within

    def _made_by(self, request: Request, owner: str) -> str | Choice | None:
        """The name of the route that made what the request continues, if this owner may know; a
        Choice: the refusal; None: it continues nothing."""
        made_by = None
        for field, code in CONTINUED.items():
            thing = getattr(request, field)
            if thing is None:
                continue
            maker = self._known.maker(owner, [mark(thing)])
            if maker is None:
                return Choice(None, code, field)
            if made_by is not None and self._provider(made_by) != self._provider(maker):
                return Choice(None, "invalid_request", field, MADE_APART)
            made_by = maker
        return made_by

    def _provider(self, route: str) -> str | None:
        made_at = self._by_name.get(route)
        return None if made_at is None else made_at.provider.name

    def _first_route(
        self, request: Request, model: Model, made_by: str | None, owner: str
    ) -> Route | None:
        if made_by is not None:
            made_at = self._by_name.get(made_by)
            return None if made_at is None else select.home(made_at, model.routes)
        if request.pinned_route is not None:
            pinned = _named(model, request.pinned_route)
            return pinned if pinned.enabled else None
        maker = self._by_name.get(self._known.maker(owner, request.held) or "")
        if maker is not None:
            return select.keeper(request, maker, model.routes, self._is_aside)
        return select.first(request, model.routes, self._is_aside)

    def _place(self, request: Request, route: Route, model: Model) -> Place:
        now = self._now()
        self._health[route.name] = self._health.get(route.name, HEALTHY).chosen(now)
        another = bool(select.targets(request, model.routes, route, self._omitted))
        return Place(
            route=route.name,
            binding=select.binding_at(request, route, self._omitted),
            another=another,
            kindred=another and select.is_kindred_bound(request, route, self._omitted),
            hold_seconds=route.hold_seconds,
            connect_timeout_seconds=route.connect_timeout_seconds,
            first_event_timeout_seconds=route.first_event_timeout_seconds,
            idle_timeout_seconds=route.idle_timeout_seconds,
        )

    def _is_aside(self, name: str) -> bool:
        return self._health.get(name, HEALTHY).is_aside(self._now())

    def _is_aside_route(self, route: Route) -> bool:
        return self._is_aside(route.name)

    def _state(self, route: Route, model: str, now: float) -> dict[str, Any]:
        health = self._health.get(route.name, HEALTHY)
        aside = health.is_aside(now)
        state = "set_aside" if aside else "ready"
        return {
            "route": route.name,
            "model": model,
            "state": state if route.enabled else "disabled",
            "failures": health.failures,
            "set_aside_until": self._date(health.aside_until, now) if aside else None,
        }

    def _date(self, moment: float | None, now: float) -> str | None:
        return None if moment is None else iso(self._unix() + moment - now)


def _continued(request: Request) -> str | None:
    """The name of the field that continues something."""
    fields = (name for name in reversed(CONTINUED) if getattr(request, name) is not None)
    return next(fields, None)


def _holder(request: Request) -> str:
    """The field that holds what ties the request to an origin: `input`, `tools`."""
    path = request.origin_field or request.encrypted_field or "input"
    return path.partition("[")[0].partition(".")[0]


def _outside(request: Request) -> str:
    """The field that stands for input which is not in the request."""
    return _continued(request) or request.origin_field or "input"


def _named(model: Model, name: str) -> Route:
    return next(route for route in model.routes if route.name == name)
