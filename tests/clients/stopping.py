"""R2.17: the gateway ends turns that are in flight, and every kind of client is told why."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clients.checking import verdicts
from clients.outcome import End, Kind, Outcome
from clients.playing import job, label, printed, seen_of, start
from clients.roster import CLIENTS, Client
from clients.stage import set_up
from clients.way import HALF, LIFECYCLE, SILENT, START, TEXT, Way, events

LEAVES = End(Kind.OWN, "shutting_down", 503)
TOO_OLD = End(Kind.OWN, "websocket_connection_limit_reached", 400)
FINAL = ("R2.17 failure_final",)
DELIVERED = ("R2.4 output_delivered",)

AGE_MINUTES = 0.02
"""1.2 seconds: a client has sent its turn by then, and none has the patience for an hour."""

CAUGHT = (
    "openai-python 2.15.0, stream",
    "openai-python 3.57.0, async stream",
    "openai-python 3.57.0, socket",
    "websockets 16.0, socket",
    "openai-node 7.59.0, stream",
    "curl, stream",
    "latchway_client, all old, sse",
    "latchway_client, all new, async websocket",
    "example, openai 2.15.0, sse",
    "example, websockets 16.0, websocket",
)


@dataclass(frozen=True, slots=True)
class Stop:
    """A turn that stands where `way` leaves it when the gateway has no more time for it."""

    way: Way
    settings: dict[str, Any] = field(default_factory=lambda: {"shutdown_seconds": 0.2})
    told: bool = True
    """Is the gateway told to leave (SIGTERM)?"""

    @property
    def clients(self) -> list[Client]:
        """A connection's age is a matter of sockets alone."""
        return [c for c in CLIENTS if c.name in CAUGHT and (self.told or c.over_socket)]


HELD = events(*START, "silence")
HALF_SAID = events(*TEXT, "silence")
AGED = {"websocket": {"max_minutes": AGE_MINUTES, "grace_minutes": 0}}

STOPS = {
    "SIGTERM before the first event": Stop(Way("a", "R2.17", SILENT, Outcome(LEAVES, FINAL))),
    "SIGTERM while events are held": Stop(
        Way("b", "R2.17", HELD, Outcome(LEAVES, FINAL, before=LIFECYCLE))
    ),
    "SIGTERM after text": Stop(
        Way("c", "R2.17", HALF_SAID, Outcome(LEAVES, DELIVERED, before=HALF, text="Half"))
    ),
    "a socket's age while events are held": Stop(
        Way("d", "R2.17", HELD, Outcome(TOO_OLD, FINAL, before=LIFECYCLE)), AGED, told=False
    ),
    "a socket's age after text": Stop(
        Way("e", "R2.17", HALF_SAID, Outcome(TOO_OLD, DELIVERED, before=HALF, text="Half")),
        AGED,
        told=False,
    ),
}


def stop_amid(folder: Path, amid: str) -> list[str]:
    """End a turn of each client; what is not as it should be. Raises Unavailable."""
    stop = STOPS[amid]
    way, clients, said = stop.way, stop.clients, stop.way.streamed
    with set_up((way,), folder, **stop.settings) as stage:
        gateway = stage.gateway(way, "")
        running = [(client, start(client, [job(stage, client, way)])) for client in clients]
        for client in clients:
            stage.labs.wait_for(0, 1, label(client, way))
        if stop.told:
            gateway.terminate()
        seen = {client: seen_of(printed(process)[0]) for client, process in running}
        assert gateway.stop() == 0
        gateway.verify()
        records = {record["key"]: verdicts(record) for record in gateway.records()}
    return [
        f"{client.name}: {was}, not {wanted}"
        for client in clients
        for was, wanted in (
            (seen[client], client.expected(said)),
            (records.get(client.key), said.verdicts),
        )
        if was != wanted
    ]
