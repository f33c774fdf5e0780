"""What one turn costs and how it is recorded: its opening, its closing, its line in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from latchway.ledger import bill, reservation
from latchway.log import record as records
from latchway.log.metrics import Metrics
from latchway.ports import Client, Clock, Closing, Key, Ledger, Log, Opening, Routes, Upstreams
from latchway.settings import Settings
from latchway.sight import Sight
from latchway.turn import commands as do
from latchway.values import Value, replace
from latchway.wire.marks import mark
from latchway.wire.request import Request

log = logging.getLogger("latchway.turn")


@dataclass(frozen=True, slots=True)
class Ports:
    """What every turn of a process shares."""

    settings: Settings
    clock: Clock
    wall: Callable[[], float]
    """Unix seconds; for people, never for durations."""
    routes: Routes
    upstreams: Upstreams
    ledger: Ledger
    log: Log
    metrics: Metrics
    served_by: str
    """host/pid"""


class Asked(Value, frozen=True):
    """A request that is well formed, and who sent it."""

    request_id: str
    request: Request
    key: Key


WHY_FORGIVEN = {"client_disconnected": "client_left", "gateway_stopped": "gateway_stopped"}
"""Reason of a loss by the failure's name; every other failure is the upstream's."""


class Books:
    """The money and the record of one turn."""

    __slots__ = (
        "_asked", "_bill", "_charge", "_model", "_money", "_opened_at", "_ports", "transport",
    )  # fmt: skip

    def __init__(self, ports: Ports, asked: Asked) -> None:
        self._ports, self._asked = ports, asked
        self._model = ports.settings.models.get(asked.request.model)
        self._money: bill.Terms | None = None
        self._bill = records.Bill()
        self._charge: Closing | None = None
        """The charge that the ledger was asked for."""
        self._opened_at = ports.wall()
        self.transport = "websocket" if asked.request.websocket else "http"

    def opening(self, route: str) -> Opening:
        """What the ledger is asked to put aside before the first call, which goes to `route`."""
        model = self._model
        assert model is not None
        amount = 0 if model.free else reservation.amount(model, self._asked.request)
        self._money = bill.Terms(
            request_id=self._asked.request_id,
            price=model.price,
            costs={each.name: each.cost for each in model.routes if each.cost is not None},
            prompt_bytes=self._asked.request.prompt_bytes,
            reserved=amount,
        )
        return Opening(
            request_id=self._asked.request_id,
            key=self._asked.key.name,
            owner=self._asked.key.owner,
            model=model.name,
            price=model.price,
            amount=amount,
            route=route,
            started_at_ms=round(self._opened_at * 1000),
        )

    def opened(self) -> None:
        """The reservation is durable."""
        assert self._money is not None
        self._bill = records.Bill(reserved=self._money.reserved)

    def noting(self, route: str, client: Client) -> Client:
        """The client, so that what `route` makes in the background is known before it is told."""
        if not self._asked.request.background:
            return client
        remember = partial(self._ports.ledger.remember, self._asked.key.owner, route)
        return Sight(remember, client)

    def let_go(self) -> Asked:
        """An event was delivered, so there will be no other attempt (R1.2): the request's bytes,
        which may be many, are not kept while its answer streams."""
        request = replace(self._asked.request, body=b"", fields={})
        self._asked = replace(self._asked, request=request)
        return self._asked

    def closing(self, command: do.Close, failure: str | None) -> Closing:
        """How the turn's money ends. `failure`: the name of the last attempt's failure, if any.
        Asked again behind a charge: that was not durable."""
        assert self._money is not None
        why = WHY_FORGIVEN.get(failure or "", "upstream_broke")
        closing, self._bill = bill.close(command, self._money, why)
        made = (*self._still_used(), *closing.made)
        closing = replace(closing, made=made, repeated=self._asked.request.compacts)
        if closing.loss_reason == "above_reservation":
            log.warning("alarm: turn %s cost more than was reserved", closing.request_id)
        if self._charge is not None:
            closing, self._bill = bill.undone(self._charge, closing, self._money.reserved)
        elif closing.usage is not None:
            self._charge = closing
        return closing

    def _still_used(self) -> Sequence[bytes]:
        """A conversation outlives its turns: each of them keeps its place in mind."""
        conversation = self._asked.request.conversation
        return () if conversation is None else (mark(conversation),)

    def write(self, finish: do.Finish) -> None:
        """Count the turn and log it, once. Usage that cannot be true raises an alarm (R6)."""
        if any(attempt.usage_absurd for attempt in finish.attempts):
            log.warning("alarm: turn %s got usage that cannot be true", self._asked.request_id)
        money = self._priced(finish)
        asked = records.Asked(
            request_id=self._asked.request_id,
            key=self._asked.key.name,
            owner=self._asked.key.owner,
            model=self._asked.request.model,
            transport=self.transport,
            streamed=self._asked.request.streamed,
            started_at=self._opened_at,
        )
        ports = self._ports
        ports.metrics.turn_ended(finish, money, model=asked.model, transport=asked.transport)
        ports.log.record(records.record(finish, asked, money, served_by=ports.served_by))

    def _priced(self, finish: do.Finish) -> records.Bill:
        """The bill with what each attempt cost the operator."""
        money = self._money
        if money is None:
            return self._bill
        costs = (bill.attempt_cost(each.usage, each.route, money) for each in finish.attempts)
        return records.with_costs(self._bill, tuple(costs))
