"""Two workers of one gateway: any of them serves anybody, and the end of one is its own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from command import SECONDS, latchway
from serve import processes
from serve.processes import Gateway, configure, faults, serving
from workers.processes import (
    STATES,
    Stream,
    alive,
    ask,
    get,
    open_turns,
    record,
    rows,
    streams,
    wait_until,
)

ADMIN = {"Authorization": "Bearer for-the-tests"}
TOKEN = "admin_token: for-the-tests"


@dataclass
class House:
    """A gateway with two workers, for all tests of this module."""

    folder: Path
    gateway: Gateway

    @property
    def pids(self) -> set[int]:
        """Of both its workers, once both serve."""
        wait_until(lambda: len(alive(self.folder)) == 2)
        return alive(self.folder)

    def state(self, request_id: str) -> tuple[str, int]:
        (found,) = (row[1:] for row in rows(self.folder, STATES) if row[0] == request_id)
        return found

    def counted(self) -> float:
        """Turns that were completed, as `/metrics` has it."""
        lines = get(self.gateway, "/metrics")[1].decode().splitlines()
        return sum(
            float(line.rpartition(" ")[2])
            for line in lines
            if line.startswith("latchway_turns_total") and 'outcome="completed"' in line
        )

    def socket(self, secret: str) -> Any:
        url = f"ws://127.0.0.1:{self.gateway.port}/v1/responses"
        headers = {"Authorization": f"Bearer {secret}"}
        return connect(url, additional_headers=headers, proxy=None)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    with processes.upstream() as lab:
        secret = configure(folder, lab, more=TOKEN)
        with serving(folder, secret, workers=2) as gateway:
            yield House(folder, gateway)
    assert faults(folder) == []


def test_both_serve_and_any_of_them_tells_what_either_did(house: House) -> None:
    before = house.counted()
    served: set[int] = set()
    turns = 0
    while len(served) < 2:
        seen = record(house.gateway, ask(house.gateway))
        assert seen["billing"]["charged"] == "0.000040000"
        served.add(int(seen["served_by"].rpartition("/")[2]))
        turns += 1
        assert house.counted() == before + turns
    assert served == house.pids
    status, body = get(house.gateway, "/admin/routes", **ADMIN)
    assert status == 200
    assert {row["state"] for row in json.loads(body)} == {"ready"}
    status, body = get(house.gateway, "/admin/ledger", **ADMIN)
    assert (status, len(json.loads(body)["entries"]) >= 3 * turns) == (200, True)


def test_what_is_done_to_a_key_holds_in_both_and_on_open_sockets(house: House) -> None:
    made = latchway("keys", "create", "bob", "--unlimited", "--json", folder=house.folder)
    secret = json.loads(made.stdout)["key"]
    with ExitStack() as leave:
        sockets = [leave.enter_context(house.socket(secret)) for _ in range(8)]
        assert latchway("keys", "revoke", "bob", folder=house.folder).returncode == 0
        for client in sockets:
            client.send(json.dumps({"type": "response.create", "model": "good", "input": "hi"}))
            assert json.loads(client.recv(SECONDS))["error"]["code"] == "invalid_api_key"
    assert "bob" in latchway("keys", "list", folder=house.folder).stdout


def test_one_that_is_killed_costs_its_own_turns_alone_and_is_replaced(house: House) -> None:
    found = streams(house.folder, house.gateway, "silent", house.pids)
    before = house.counted()
    (gone, theirs), (other, spared) = found.items()
    os.kill(gone, signal.SIGKILL)
    for stream in theirs:
        with suppress(ConnectionError, http.client.HTTPException):
            assert b"response.completed" not in stream.rest()
        seen = wait_until(partial(_logged, house, stream))
        assert house.state(stream.id) == ("void", 0)
        assert (seen["code"], seen["served_by"].rpartition("/")[2]) == ("gateway_killed", str(gone))
    assert {each.id for each in spared} <= open_turns(house.folder).keys()
    assert latchway("ledger", "verify", folder=house.folder).returncode == 0
    assert house.counted() >= before
    wait_until(lambda: len(house.pids - {other}) == 1)
    for stream in spared:
        stream.connection.close()
    ask(house.gateway)


def _logged(house: House, stream: Stream) -> dict[str, str] | None:
    status, body = get(house.gateway, f"/v1/requests/{stream.id}")
    found: dict[str, str] = json.loads(body)
    return found if status == 200 else None


def test_one_that_is_told_to_leave_ends_its_turns_and_loses_no_connection(house: House) -> None:
    found = streams(house.folder, house.gateway, "large", house.pids)
    leaving, theirs = found.popitem()
    os.kill(leaving, signal.SIGTERM)
    for _ in range(20):
        ask(house.gateway)
    for stream in (*theirs, *(each for others in found.values() for each in others)):
        assert stream.rest().rstrip().rpartition(b"\nevent: ")[2].startswith(b"response.completed")
        assert record(house.gateway, stream.id)["outcome"] == "completed"
    wait_until(lambda: leaving not in alive(house.folder))
    assert len(house.pids) == 2


def test_one_that_stands_still_holds_up_neither_figures_nor_commands(house: House) -> None:
    ask(house.gateway)
    before = house.counted()
    still = min(house.pids)
    os.kill(still, signal.SIGSTOP)
    assert house.counted() >= before
    assert latchway("keys", "create", "carol", folder=house.folder).returncode == 0
    wait_until(lambda: still not in alive(house.folder))
    assert len(house.pids) == 2
    assert house.counted() >= before


def test_connections_that_wait_are_the_gateways(house: House) -> None:
    """A connection that nobody has taken outlives every worker there is."""
    pids = house.pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    with socket.create_connection(("127.0.0.1", house.gateway.port), SECONDS) as waiting:
        waiting.sendall(b"GET /health/live HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        assert waiting.recv(100).startswith(b"HTTP/1.1 200")
