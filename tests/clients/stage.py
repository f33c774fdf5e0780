"""Where clients are tried: two labs, and a gateway with a model for each way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clients.gateway import Gateway
from clients.upstreams import Labs, Nowhere
from clients.way import CONTINUED, FIRST_ANSWER, Reply, Way

USUAL = "usual"
"""Name of the gateway that has no failpoint."""

WHOLE_ANSWER_SECONDS = 2.0
KEEPALIVE_SECONDS = 0.1
"""Often, so that clients meet comments wherever a status line has gone out early."""
HELD_BYTES = 65_536
MANY_ABORTS = 1_000
"""More turns than any client here leaves; else its key would have to wait."""


class Stage:
    """The running parts, and what they were asked."""

    def __init__(self, labs: Labs, ways: tuple[Way, ...], folder: Path, text: str) -> None:
        self.labs = labs
        self.ways = ways
        self.gateways: dict[str, Gateway] = {}
        """By name: the usual one, and one for each client at a failpoint, which acts once."""
        self._folder = folder
        self._configuration = text
        self._continued: dict[str, str] = {}

    def gateway(self, way: Way, client: str) -> Gateway:
        """The one that this client shall ask for this way; started when it is asked for first."""
        name = f"{way.failpoint} for {client}" if way.failpoint else USUAL
        if name not in self.gateways:
            home = self._folder / str(len(self.gateways))
            home.mkdir()
            self.gateways[name] = Gateway(home, self._configuration, way.failpoint)
        return self.gateways[name]

    def request(self, gateway: Gateway, way: Way, label: str, **usual: Any) -> dict[str, Any]:
        """What a client sends; `label` is in the input, so that its calls are found again."""
        request = {"model": way.name, "input": label, **usual, **way.request}
        if "input" in way.request:
            message = {"type": "message", "role": "user", "content": label}
            request["input"] = [message, *way.request["input"]]
        if request.get("previous_response_id") == CONTINUED:
            request["previous_response_id"] = self._stored_response(gateway, way)
        return request

    def _stored_response(self, gateway: Gateway, way: Way) -> str:
        if way.name not in self._continued:
            request = {"model": way.name, "input": "Begin.", "store": True}
            self._continued[way.name] = gateway.post(gateway.key("beginning"), request)["id"]
        return self._continued[way.name]


@contextmanager
def set_up(ways: tuple[Way, ...], folder: Path, **more: Any) -> Iterator[Stage]:
    """Labs that run, gateways as they are asked for; afterwards nothing runs.

    `more`: further fields of the configuration.
    """
    nowhere = Nowhere()
    labs = Labs(_script(ways, "first"), _script(ways, "second"))
    stage = Stage(labs, ways, folder, configuration(ways, labs, nowhere, **more))
    try:
        yield stage
    finally:
        for gateway in stage.gateways.values():
            gateway.stop()
        labs.close()
        nowhere.close()


def configuration(ways: tuple[Way, ...], labs: Labs, nowhere: Nowhere, **more: Any) -> str:
    """A `latchway.yaml`, which may be JSON."""
    first, second = labs.ports
    addresses = {
        "first": f"http://127.0.0.1:{first}/v1",
        "second": f"http://127.0.0.1:{second}/v1",
        "refusing": f"http://127.0.0.1:{nowhere.refusing}/v1",
        "deaf": f"http://127.0.0.1:{nowhere.deaf}/v1",
        "tls": f"https://127.0.0.1:{first}/v1",
        "nameless": "http://upstream.invalid/v1",
    }
    return json.dumps(
        {
            "providers": {
                name: {"base_url": url, "api_key": "upstream"} for name, url in addresses.items()
            },
            "models": {way.name: _model(way) for way in ways},
            "turn": {
                "whole_answer_timeout_seconds": WHOLE_ANSWER_SECONDS,
                "keepalive_seconds": KEEPALIVE_SECONDS,
                "pre_output_buffer_bytes": HELD_BYTES,
            },
            "health": {"enabled": False},
            "billing": {"free_aborts_per_minute": MANY_ABORTS},
            **more,
        }
    )


def _model(way: Way) -> dict[str, Any]:
    routes = [{"provider": _place(way.first, "first"), "store_default": False, **way.route}]
    if way.second is not None:
        provider = _place(way.second, "second")
        more = {**way.route, **way.second_route}
        routes.append({"provider": provider, "store_default": False, **more})
    return {
        "price": {"input": 1, "output": 4},
        "context_tokens": 1000,
        "max_output_tokens": 100,
        "routes": routes,
    }


def _place(reply: Reply | str, lab: str) -> str:
    return reply if isinstance(reply, str) else lab


def _script(ways: tuple[Way, ...], lab: str) -> dict[str, Any]:
    replies = {way.name: way.first if lab == "first" else way.second for way in ways}
    return {
        "routes": [
            {"when": {"model": name, "input": "Begin."}, "calls": [FIRST_ANSWER]}
            for name in replies
        ]
        + [
            {"when": {"model": name}, "calls": [reply]}
            for name, reply in replies.items()
            if isinstance(reply, dict)
        ]
    }
