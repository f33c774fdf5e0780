"""What a configuration must hold beyond the kind of each field, and the advice that it gets.

Each rule reads what the schema read, in which a field that is missing or wrong is absent: that has
been told, and a rule says nothing more of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from latchway.config.faults import Report, Where
from latchway.config.kinds import unknown
from latchway.config.schema import FREE

Values = dict[str, Any]

NEVER_DROPPED = {
    "model": "says what is called",
    "input": "is what is asked",
    "stream": "says how the answer comes",
    "background": "says how the answer comes",
    "previous_response_id": "is part of what is asked",
    "conversation": "is part of what is asked",
    "prompt": "is part of what is asked",
    "max_output_tokens": "bounds the reservation",
}
"""Without these fields the route would answer another request than the one that was reserved and
bound."""


def apply(values: Values, folder: Path, report: Report) -> None:
    """All rules. `folder`: the configuration's own, to which files are relative."""
    _files_exist(values, folder, report)
    _secrets_are_closed(report)
    names: dict[str, tuple[str, str]] = {}
    for name, model in values.get("models", {}).items():
        where = ("models", name)
        _model(where, model, report)
        _routes(where, model, values, report)
        _names_mean_one_provider(name, model, names, report)


def route_name(route: Values, model: str) -> str:
    """The route's name, else `provider/model`, the model as it is called there."""
    return str(route.get("name") or f"{route.get('provider')}/{route.get('model', model)}")


def _model(where: Where, model: Values, report: Report) -> None:
    if model.get("price") == FREE:
        return
    if not report.said((*where, "max_output_tokens")):
        report.fault(
            (*where, "max_output_tokens"),
            "is missing: it bounds what a turn can cost; say it, or `price: free`",
        )
    if not report.said((*where, "context_tokens")):
        report.advise(
            (*where, "context_tokens"),
            "is not said: a request whose input is not all in it (a continuation, stored prompt,"
            " file or image by id) is refused; say how many tokens the model takes",
        )


def _routes(where: Where, model: Values, values: Values, report: Report) -> None:
    routes = model.get("routes")
    if routes == []:
        report.fault((*where, "routes"), "must have at least one route: `- {provider: …}`")
    seen: dict[str, int] = {}
    for index, route in enumerate(routes or []):
        at = (*where, "routes", index)
        for rule in ROUTE_RULES:
            rule(at, route, values, report)
        first = seen.setdefault(route_name(route, str(where[-1])), index)
        if first != index and "provider" in route:
            report.fault(
                (*at, "name"), f"is the name of routes[{first}], too; give one of them another"
            )


def _provider_known(at: Where, route: Values, values: Values, report: Report) -> None:
    known = values.get("providers", {})
    if "provider" in route and known and route["provider"] not in known:
        report.fault((*at, "provider"), unknown(route["provider"], list(known), "provider"))


def _droppable(at: Where, route: Values, values: Values, report: Report) -> None:
    for index, name in enumerate(route.get("drop_fields", [])):
        where = (*at, "drop_fields", index)
        if name in NEVER_DROPPED:
            report.fault(where, f"`{name}` {NEVER_DROPPED[name]}; it cannot be dropped")
        if name == "store" and route.get("store_default", True):
            report.fault(
                where, "`store` can be dropped only where nothing is stored: store_default: false"
            )


def _store_default_said(at: Where, route: Values, values: Values, report: Report) -> None:
    if values.get("turn", {}).get("store_when_omitted", "provider") != "provider":
        return
    if not report.said((*at, "store_default")):
        report.advise(
            (*at, "store_default"),
            "is not said, so a request that omits `store` counts as stored there and is not"
            " replayed; say false if the provider does not store it, else true",
        )


ROUTE_RULES: tuple[Callable[[Where, Values, Values, Report], None], ...] = (
    _provider_known,
    _droppable,
    _store_default_said,
)


def _names_mean_one_provider(
    model: str, said: Values, names: dict[str, tuple[str, str]], report: Report
) -> None:
    """A response's id is remembered with its route's name: two models may share a name, but only
    for one provider. `names`: from a route's name to the first model that has it, and its
    provider."""
    for index, route in enumerate(said.get("routes", [])):
        provider = route.get("provider", "")
        first, theirs = names.setdefault(route_name(route, model), (model, provider))
        if first != model and theirs != provider:
            where = ("models", model, "routes", index, "name")
            report.fault(where, f"is a route of {first} at another provider; give it a name here")


def _files_exist(values: Values, folder: Path, report: Report) -> None:
    for name, path in values.get("tls", {}).items():
        if not os.path.isfile(folder / path):
            report.fault(("tls", name), "there is no such file")
    if "database" in values and not os.path.isdir((folder / values["database"]).parent):
        report.fault(("database",), "its folder does not exist; make it")


def _secrets_are_closed(report: Report) -> None:
    if report.literal_secrets and report.open_to_others:
        report.advise(
            report.literal_secrets[0],
            "a credential stands in a file that others can read; take it from the environment,"
            " `${NAME}`, or `chmod 600` the file",
        )
