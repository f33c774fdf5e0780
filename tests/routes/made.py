"""Routes, settings and requests for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from latchway.settings import HealthSettings, Model, Price, Provider, Route, Settings, TurnSettings
from latchway.wire.request import Request, parse

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
ENCRYPTED = {"input": [REASONING, {"role": "user", "content": "go"}]}
FILE = {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}]}


def route(name: str, **said: Any) -> Route:
    """An enabled route that stores nothing, at a provider of its own."""
    provider = Provider(said.pop("provider", f"at-{name}"), "http://127.0.0.1:1/v1", None)
    values: dict[str, Any] = {
        "upstream_model": "m",
        "enabled": True,
        "store_default": False,
        "origin": None,
        "drop_fields": (),
        "cost": None,
        "hold_seconds": 10.0,
        "connect_timeout_seconds": 10.0,
        "first_event_timeout_seconds": 60.0,
        "idle_timeout_seconds": 300.0,
    }
    return Route(name=name, provider=provider, **(values | said))


def model(name: str, *routes: Route, **said: Any) -> Model:
    values: dict[str, Any] = {
        "price": Price(1, 1, 1, 1, 1),
        "free": False,
        "context_tokens": 1000,
        "max_output_tokens": 100,
    }
    return Model(name=name, routes=routes, **(values | said))


def settings(*models: Model, store_when_omitted: str = "provider", **health: Any) -> Settings:
    return Settings(
        models={each.name: each for each in models},
        providers={},
        database=Path("none"),
        turn=TurnSettings(store_when_omitted=store_when_omitted),
        health=HealthSettings(**health),
    )


def request(pin: str | None = None, **fields: Any) -> Request:
    body = {"model": "m", "input": "hi"} | fields
    return parse(json.dumps(body).encode(), websocket=False, pinned_route=pin)
