"""The choice of a route. Pure: configured routes and a request in, routes out.

Preference is the configured order. Health moves a route to the end of it, and never out of it.
What ties a request to a place (R3) ties it here: it goes to one route or to none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latchway.settings import Route
from latchway.turn.events import Binding
from latchway.wire.request import Request, binding_of, bound_by_encrypted_only


def first(
    request: Request, routes: Sequence[Route], is_aside: Callable[[str], bool]
) -> Route | None:
    """Where a request that is neither pinned nor a continuation is called; None: no route is
    enabled. One that only its origin can read goes to the first in the file, set aside or not: a
    healthier route could not read it."""
    enabled = [route for route in routes if route.enabled]
    if not _origin_bound(request):
        enabled.sort(key=lambda route: is_aside(route.name))
    return enabled[0] if enabled else None


def home(made_at: Route, routes: Sequence[Route]) -> Route | None:
    """Where a continuation of what was made at `made_at` is called: that route; for a model that
    it does not serve, a route at the same provider, where the id is known, too. Else nowhere."""
    named = [route for route in routes if route.name == made_at.name]
    if not named and made_at.enabled:
        named = [route for route in routes if route.provider.name == made_at.provider.name]
    return next((route for route in named if route.enabled), None)


def keeper(
    request: Request, maker: Route, routes: Sequence[Route], is_aside: Callable[[str], bool]
) -> Route | None:
    """Where a request is called that holds what `maker` made: there, or, if that is not enabled, at
    a route of the same origin. Else nowhere. Encrypted items alone can be read at each of these, so
    they go to one that is not set aside."""
    own = home(maker, routes)
    kin = [r for r in routes if r.enabled and r.origin is not None and r.origin == maker.origin]
    places = kin if own is None else [own, *kin]
    if request.origin_field is None:
        places.sort(key=lambda route: is_aside(route.name))
    return places[0] if places else None


def targets(
    request: Request, routes: Sequence[Route], failed: Route, store_when_omitted: str
) -> list[Route]:
    """Where a replay may go, in configured order (R1.7, R3)."""
    return [
        route
        for route in routes
        if route.enabled
        and route.name != failed.name
        and _may_be_replayed_at(route, request, failed, store_when_omitted)
    ]


def is_kindred_bound(request: Request, route: Route, store_when_omitted: str) -> bool:
    """Would encrypted items alone tie the request to this route's origin?"""
    return bound_by_encrypted_only(
        request, store_when_omitted=store_when_omitted, store_default=route.store_default
    )


def binding_at(request: Request, route: Route, store_when_omitted: str) -> Binding:
    """What ties the request to one place, were it served there."""
    return binding_of(
        request, store_when_omitted=store_when_omitted, store_default=route.store_default
    )


def _origin_bound(request: Request) -> bool:
    return request.origin_field is not None or request.encrypted_field is not None


def _may_be_replayed_at(
    route: Route, request: Request, failed: Route, store_when_omitted: str
) -> bool:
    if binding_at(request, route, store_when_omitted) is Binding.STATELESS:
        return True
    if not is_kindred_bound(request, route, store_when_omitted):
        return False
    return route.origin is not None and route.origin == failed.origin
