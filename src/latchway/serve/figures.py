"""The figures that `/metrics` and `/admin/routes` show: of this process, if it is the only one."""

from __future__ import annotations

from typing import Any, Protocol

from latchway.books import Ports


class Figures(Protocol):
    """Made beside the loop. LedgerFault: they cannot be had now."""

    def metrics(self) -> bytes: ...
    def routes(self) -> list[dict[str, Any]]: ...


class OwnFigures:
    """Of one process's turns and routes."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def metrics(self) -> bytes:
        metrics = self._ports.metrics
        metrics.route_states((each["route"], each["state"]) for each in self.routes())
        return metrics.render()

    def routes(self) -> list[dict[str, Any]]:
        return self._ports.routes.routes_state(self._ports.clock.time())
