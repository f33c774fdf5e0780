"""From what a faultless file says to Settings, with every default filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latchway.config.rules import Values, route_name
from latchway.config.schema import DEFAULT_DATABASE, FREE, ROUTE_CLOCKS
from latchway.settings import (
    BillingSettings,
    HealthSettings,
    LimitSettings,
    Model,
    Price,
    Provider,
    ReplaySettings,
    Route,
    Settings,
    Tls,
    TurnSettings,
    WebsocketSettings,
)

SECTIONS: dict[str, type[Any]] = {
    "turn": TurnSettings,
    "replay": ReplaySettings,
    "health": HealthSettings,
    "billing": BillingSettings,
    "websocket": WebsocketSettings,
    "limits": LimitSettings,
}
"""Sections whose fields are a settings class's own."""

AS_THEY_ARE = ("admin_token", "metrics_token", "shutdown_seconds")


def settings(values: Values, folder: Path) -> Settings:
    """`folder`: the configuration's own, absolute, to which relative files are relative."""
    fields: Values = {name: values[name] for name in AS_THEY_ARE if name in values}
    fields |= {name: made(**values.get(name, {})) for name, made in SECTIONS.items()}
    if "listen" in values:
        fields["host"], fields["port"] = values["listen"]
    if "tls" in values:
        fields["tls"] = Tls(**{name: folder / path for name, path in values["tls"].items()})
    if "keep_days" in values.get("log", {}):
        fields["log_keep_days"] = values["log"]["keep_days"]
    providers = {
        name: Provider(name, said["base_url"], said.get("api_key"))
        for name, said in values["providers"].items()
    }
    models = {
        name: _model(name, said, providers, fields["turn"])
        for name, said in values["models"].items()
    }
    database = folder / values.get("database", DEFAULT_DATABASE)
    return Settings(models=models, providers=providers, database=database, **fields)


def _model(name: str, said: Values, providers: dict[str, Provider], turn: TurnSettings) -> Model:
    return Model(
        name=name,
        price=_price(said["price"]),
        free=said["price"] == FREE,
        context_tokens=said.get("context_tokens"),
        max_output_tokens=said.get("max_output_tokens"),
        routes=tuple(_route(name, route, providers, turn) for route in said["routes"]),
    )


def _route(model: str, said: Values, providers: dict[str, Provider], turn: TurnSettings) -> Route:
    return Route(
        name=route_name(said, model),
        provider=providers[said["provider"]],
        upstream_model=said.get("model", model),
        enabled=said.get("enabled", True),
        store_default=said.get("store_default", True),
        origin=said.get("origin"),
        drop_fields=tuple(said.get("drop_fields", ())),
        cost=_price(said["cost"]) if "cost" in said else None,
        **{clock: said.get(clock, getattr(turn, clock)) for clock in ROUTE_CLOCKS},
    )


def _price(said: Any) -> Price:
    """nano-USD per million tokens; a class that is not said costs what its whole does."""
    if said == FREE:
        return Price()
    unsaid = dict.fromkeys(("cached_input", "cache_write"), said["input"])
    return Price(**(unsaid | {"reasoning": said["output"]} | said))
