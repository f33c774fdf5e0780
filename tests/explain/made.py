"""A configuration of three routes, and requests put to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from latchway.explain import plan
from latchway.explain.asked import Account, Assumed
from latchway.routes.table import Known
from latchway.settings import Model, Price, Provider, Route, Settings, TurnSettings

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
FIRST, SECOND, THIRD = "one/m", "two/m-2", "three/m"
PRICE = Price(input=2_000_000_000, cached_input=1_000_000_000, output=8_000_000_000)


def route(name: str, **changed: Any) -> Route:
    provider, _, model = name.partition("/")
    values: dict[str, Any] = {
        "name": name, "provider": Provider(provider, "http://127.0.0.1:9/v1", None),
        "upstream_model": model, "enabled": True, "store_default": False, "origin": None,
        "drop_fields": (), "cost": None, "hold_seconds": 10.0, "connect_timeout_seconds": 10.0,
        "first_event_timeout_seconds": 60.0, "idle_timeout_seconds": 300.0,
    }  # fmt: skip
    return Route(**(values | changed))


ROUTES = (route(FIRST), route(SECOND, drop_fields=("user",)), route(THIRD, enabled=False))


def settings(*routes: Route, free: bool = False, **turn: Any) -> Settings:
    model = Model("m", PRICE, free, 1000, 100, routes or ROUTES)
    return Settings(models={"m": model}, providers={}, turn=TurnSettings(**turn))


def explained(
    asked: Settings | None = None,
    *,
    account: Account | None = None,
    headers: Mapping[str, str] = NO_HEADERS,
    websocket: bool = False,
    known: Known | None = None,
    **body: Any,
) -> plan.Plan | plan.Refusal:
    """What becomes of a request for `m` with these members."""
    asked = asked or settings()
    whole = {"model": "m", "input": "hi", **body}
    data = json.dumps(whole, separators=(",", ":")).encode()
    request = plan.read(data, headers, asked, websocket=websocket)
    return plan.plan(request, asked, known or Assumed(FIRST), account)


def planned(asked: Settings | None = None, **more: Any) -> plan.Plan:
    found = explained(asked, **more)
    assert isinstance(found, plan.Plan), found
    return found


def refused(asked: Settings | None = None, **more: Any) -> plan.Refusal:
    found = explained(asked, **more)
    assert isinstance(found, plan.Refusal), found
    return found
