"""The routes of one process: what is configured, how each fares, and the port that chooses.

Every choice is told to the health of the chosen route, which takes the first one after a time
aside as its try.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from latchway.log.record import iso
from latchway.ports import Choice
from latchway.routes import select
from latchway.routes.budget import Budget
from latchway.routes.health import HEALTHY, Health
from latchway.routes.makers import Makers
from latchway.settings import Model, Route, Settings
from latchway.turn.events import Place
from latchway.wire.request import Request

PIN_HEADER = "x-latchway-route"

NO_SUCH_PIN = f"{PIN_HEADER} names no route of this model; name one of its routes, or none."
PINNED_ELSEWHERE = (
    f"{PIN_HEADER} names another route than the one that made previous_response_id, and only there"
    " can it be continued; leave the header out."
)
NO_CONTEXT_TOKENS = (
    "Not all of this request's input is in it, and the model's context_tokens, which would bound"
    " its cost, is not configured; send the whole input, or have context_tokens set."
)


class RouteTable:
    """`ports.Routes`. `route_of(owner, response_id)`: the name of the route that made it, or None.

    `now` is the clock that `attempt_ended` is told; `unix` gives seconds since 1970, for people.
    """

    def __init__(
        self,
        settings: Settings,
        route_of: Callable[[str, str], str | None],
        now: Callable[[], float] = time.monotonic,
        unix: Callable[[], float] = time.time,
    ) -> None:
        self._settings, self._route_of = settings, route_of
        self._now, self._unix = now, unix
        self._omitted = settings.turn.store_when_omitted
        self._health: dict[str, Health] = {}
        self._budget = Budget(settings.replay)
        routes = [route for model in settings.models.values() for route in model.routes]
        self._makers = Makers()
        self._by_name = {route.name: route for route in routes}

    # ---- choices

    def first(self, request: Request, owner: str) -> Choice:
        """The route of the first attempt, or the code of the refusal. Nothing has been called."""
        model = self._settings.models.get(request.model)
        if model is None:
            return Choice(None, "model_not_found", "model")
        made_by = self._made_by(request, owner)
        refusal = _refusal(request, model, made_by)
        if refusal is not None:
            return refusal
        route = self._first_route(request, model, made_by, owner)
        if route is None:
            return Choice(None, "no_route_available")
        if request.pinned_route not in (None, route.name):
            return Choice(None, "invalid_request", PIN_HEADER, PINNED_ELSEWHERE)
        return Choice(self._place(request, route, model))

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

    def made(self, owner: str, route: str, marks: Sequence[bytes]) -> None:
        """Remember the maker of what may come back (R3)."""
        self._makers.note(owner, route, marks)

    def routes_state(self, now: float) -> list[dict[str, Any]]:
        """What `/admin/routes` shows. `state`: ready | set_aside | disabled."""
        return [
            self._state(route, model.name, now)
            for model in self._settings.models.values()
            for route in model.routes
        ]

    # ---- within

    def _made_by(self, request: Request, owner: str) -> str | None:
        """The name of the route that made what the request continues, if this owner may know."""
        made = request.previous_response_id
        return None if made is None else self._route_of(owner, made)

    def _first_route(
        self, request: Request, model: Model, made_by: str | None, owner: str
    ) -> Route | None:
        if made_by is not None:
            made_at = self._by_name.get(made_by)
            return None if made_at is None else select.home(made_at, model.routes)
        if request.pinned_route is not None:
            pinned = _named(model, request.pinned_route)
            return pinned if pinned.enabled else None
        maker = self._makers.of(owner, request.held)
        if maker is not None:
            return select.keeper(self._by_name[maker], model.routes)
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


def _refusal(request: Request, model: Model, made_by: str | None) -> Choice | None:
    """What the request asks that cannot be given, whatever the state of the routes."""
    pin, made = request.pinned_route, request.previous_response_id
    if pin is not None and pin not in {route.name for route in model.routes}:
        return Choice(None, "invalid_request", PIN_HEADER, NO_SUCH_PIN)
    if request.conversation is not None:
        return Choice(None, "conversation_not_found", "conversation")
    if made is not None and made_by is None:
        return Choice(None, "previous_response_not_found", "previous_response_id")
    if request.partial_input and model.context_tokens is None and not model.free:
        param = "previous_response_id" if made is not None else request.origin_field or "input"
        return Choice(None, "invalid_request", param, NO_CONTEXT_TOKENS)
    return None


def _named(model: Model, name: str) -> Route:
    return next(route for route in model.routes if route.name == name)
