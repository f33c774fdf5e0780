"""The gateway as a process: it leaves in order, dies without debts, and speaks TLS."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from command import SECONDS, latchway
from lab.harness import Running
from serve import processes
from serve.processes import Gateway, configure, faults, records, recover, serving, turns

COST = 40_000


@pytest.fixture(scope="module")
def lab() -> Iterator[Running]:
    with processes.upstream() as running:
        yield running


def wait_until(condition: Callable[[], bool]) -> None:
    """Ask again until it holds; the harness's time-out is the bound."""
    while not condition():
        continue


def types(answer: bytes) -> list[str]:
    lines = [line for line in answer.split(b"\n") if line.startswith(b"event: ")]
    return [line[7:].decode() for line in lines]


# ---- leaving


def test_a_turn_that_runs_is_finished_before_the_gateway_leaves(
    tmp_path: Path, lab: Running
) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret) as gateway:
        idle = socket.create_connection(("127.0.0.1", gateway.port), SECONDS)
        connection = gateway.ask("large")
        answer = connection.getresponse()
        answer.read(1)
        gateway.process.send_signal(signal.SIGTERM)
        assert idle.recv(1) == b""
        assert types(answer.read())[-1] == "response.completed"
        assert gateway.leaves() == 0
        idle.close()
        connection.close()

    assert turns(tmp_path) == [("settled", COST, 0)]
    assert faults(tmp_path) == []


@pytest.mark.parametrize("second", [True, False])
def test_a_turn_that_does_not_end_is_ended_and_told(
    second: bool, tmp_path: Path, lab: Running
) -> None:
    """By the time that was set, or by a second signal."""
    secret = configure(tmp_path, lab, shutdown_seconds=600 if second else 0.2)
    with serving(tmp_path, secret) as gateway:
        connection = gateway.ask("silent")
        answer = connection.getresponse()
        assert b"response.created" in answer.readline()
        gateway.process.send_signal(signal.SIGTERM)
        if second:
            wait_until(lambda: not gateway.ready())
            gateway.process.send_signal(signal.SIGTERM)
        rest = answer.read()
        assert types(rest)[-2:] == ["error", "response.failed"]
        assert b'"code":"shutting_down"' in rest
        assert gateway.leaves() == 0
        connection.close()

    ((state, charged, _),) = turns(tmp_path)
    assert (state, charged) == ("void", 0)
    assert records(tmp_path)[-1]["code"] == "shutting_down"
    assert faults(tmp_path) == []


def test_sockets_are_closed_when_the_gateway_leaves(tmp_path: Path, lab: Running) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret) as gateway:
        url = f"ws://127.0.0.1:{gateway.port}/v1/responses"
        with connect(url, additional_headers=gateway.headers, proxy=None) as client:
            gateway.process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(SECONDS)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1012, "shutting_down")
        assert gateway.leaves() == 0


# ---- dying

VOID = ("void", 0, 0)
KILLED = {
    "reserve": ("good", []),
    "attempt_1": ("good", [VOID]),
    "select_route_replay": ("again", [VOID]),
    "attempt_2": ("again", [VOID]),
    "settle": ("good", [VOID]),
    "refund": ("final", [VOID]),
}
"""For each point a model that comes there, and the turns that are in the ledger afterwards."""


def ask(gateway: Gateway, model: str, transport: str) -> None:
    """Ask, and see the connection end without a terminal event."""
    if transport == "http":
        connection = gateway.ask(model)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            connection.getresponse().read()
        connection.close()
        return
    url = f"ws://127.0.0.1:{gateway.port}/v1/responses"
    with connect(url, additional_headers=gateway.headers, proxy=None) as client:
        client.send(json.dumps({"type": "response.create", "model": model, "input": "hi"}))
        with suppress(ConnectionClosed):
            seen = [json.loads(message)["type"] for message in client]
            assert "response.completed" not in seen


@pytest.mark.parametrize("transport", ["http", "websocket"])
@pytest.mark.parametrize("name", KILLED)
def test_killed_at_any_point_every_reservation_ends(
    name: str, transport: str, tmp_path: Path, lab: Running
) -> None:
    model, left = KILLED[name]
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret, f"{name}:kill") as gateway:
        ask(gateway, model, transport)
        assert gateway.leaves() == -signal.SIGKILL

    assert [state for state, _, _ in turns(tmp_path)] == ["open"] * len(left)
    recover(tmp_path)
    assert turns(tmp_path) == left
    assert faults(tmp_path) == []
    assert [record["code"] for record in records(tmp_path)] == ["gateway_killed"] * len(left)
    recover(tmp_path)
    assert turns(tmp_path) == left


def test_after_a_kill_the_next_gateway_begins_with_the_refund(tmp_path: Path, lab: Running) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret, "settle:kill:2") as gateway:
        answered = gateway.ask("good")
        assert types(answered.getresponse().read())[-1] == "response.completed"
        answered.close()
        ask(gateway, "good", "http")
    with serving(tmp_path, secret) as gateway:
        assert turns(tmp_path) == [("settled", COST, 0), ("void", 0, 0)]
        again = gateway.ask("good")
        assert types(again.getresponse().read())[-1] == "response.completed"
        again.close()
        assert latchway("ledger", "verify", folder=tmp_path).returncode == 0

    assert latchway("ledger", "verify", folder=tmp_path).returncode == 0


# ---- TLS


def old_tls(authority: trustme.CA) -> ssl.SSLContext:
    """A client that speaks nothing newer than TLS 1.1."""
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(old)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match=r"TLSv1_1 is deprecated"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    return old


def test_https_and_wss(tmp_path: Path, lab: Running) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    made.private_key_pem.write_to_path(tmp_path / "tls.key")
    (tmp_path / "tls.key").chmod(0o600)
    secret = configure(tmp_path, lab, more="tls: {certificate: tls.crt, key: tls.key}")
    trust = ssl.create_default_context()
    authority.configure_trust(trust)

    with serving(tmp_path, secret) as gateway:
        https = http.client.HTTPSConnection(
            "127.0.0.1", gateway.port, timeout=SECONDS, context=trust
        )
        body = json.dumps({"model": "large", "input": "hi", "stream": True})
        https.request("POST", "/v1/responses", body, gateway.headers)
        assert types(https.getresponse().read())[-1] == "response.completed"
        https.close()

        url = f"wss://127.0.0.1:{gateway.port}/v1/responses"
        with connect(
            url, additional_headers=gateway.headers, ssl=trust, proxy=None, max_size=None
        ) as client:
            client.send(json.dumps({"type": "response.create", "model": "large", "input": "hi"}))
            kinds = [json.loads(client.recv(SECONDS))["type"] for _ in range(2)]
        assert kinds == ["response.output_text.delta", "response.completed"]

        with socket.create_connection(("127.0.0.1", gateway.port), SECONDS) as plain:
            plain.sendall(b"GET /health/live HTTP/1.1\r\nhost: g\r\n\r\n")
            assert not plain.recv(100).startswith(b"HTTP/1.1 200")
        old = old_tls(authority)
        with (
            socket.create_connection(("127.0.0.1", gateway.port), SECONDS) as raw,
            pytest.raises(ssl.SSLError),
        ):
            old.wrap_socket(raw, server_hostname="127.0.0.1")
