"""R2.17: the gateway is told to leave while every kind of client has a turn in flight."""

from __future__ import annotations

from pathlib import Path

from clients.checking import verdicts
from clients.outcome import End, Kind, Outcome
from clients.playing import job, label, printed, seen_of, start
from clients.roster import CLIENTS
from clients.stage import set_up
from clients.way import HALF, LIFECYCLE, SILENT, START, TEXT, Way, events

SHUTDOWN_SECONDS = 0.2

LEAVES = End(Kind.OWN, "shutting_down", 503)

STOPPED = {
    "nothing": Way("hears", "R2.17", SILENT, Outcome(LEAVES, ("R2.17 failure_final",))),
    "held": Way(
        "waits",
        "R2.17",
        events(*START, "silence"),
        Outcome(LEAVES, ("R2.17 failure_final",), before=LIFECYCLE),
    ),
    "text": Way(
        "talks",
        "R2.17",
        events(*TEXT, "silence"),
        Outcome(LEAVES, ("R2.4 output_delivered",), before=HALF, text="Half"),
    ),
}
"""What came from the upstream when the gateway has no more time for the turn."""

CAUGHT = (
    "openai-python 2.15.0, stream",
    "openai-python 3.57.0, async stream",
    "openai-python 3.57.0, socket",
    "websockets 16.0, socket",
    "openai-node 7.59.0, stream",
    "curl, stream",
)


def stop_amid(folder: Path, amid: str) -> list[str]:
    """SIGTERM with a turn of each client in flight; what is not as it should be."""
    way = STOPPED[amid]
    clients = [client for client in CLIENTS if client.name in CAUGHT]
    with set_up((way,), folder, shutdown_seconds=SHUTDOWN_SECONDS) as stage:
        gateway = stage.gateway(way, "")
        running = [(client, start(client, [job(stage, client, way)])) for client in clients]
        for client in clients:
            stage.labs.wait_for(0, 1, label(client, way))
        gateway.terminate()
        seen = {client: seen_of(printed(process)[0]) for client, process in running}
        assert gateway.stop() == 0
        gateway.verify()
        records = {record["key"]: verdicts(record) for record in gateway.records()}
    said = way.streamed
    return [
        f"{client.name}: {was}, not {wanted}"
        for client in clients
        for was, wanted in (
            (seen[client], client.expected(said)),
            (records.get(client.key), said.verdicts),
        )
        if was != wanted
    ]
