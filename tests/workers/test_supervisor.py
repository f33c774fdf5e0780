"""The gateway with workers leaves in order, dies without debts, and speaks TLS."""

from __future__ import annotations

import http.client
import signal
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import trustme

from command import SECONDS, latchway
from lab.harness import Running
from serve import processes
from serve.processes import configure, faults, records, recover, serving
from workers.processes import STATES, Stream, alive, ask, rows, streams, wait_until


@pytest.fixture(scope="module")
def lab() -> Iterator[Running]:
    with processes.upstream() as running:
        yield running


def last_event(answer: bytes) -> str:
    return answer.rpartition(b"\nevent: ")[2].partition(b"\n")[0].decode()


def test_turns_that_run_are_finished_in_every_worker_before_the_gateway_leaves(
    tmp_path: Path, lab: Running
) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret, workers=2) as gateway:
        found = streams(tmp_path, gateway, "large", alive(tmp_path))
        gateway.process.send_signal(signal.SIGTERM)
        for stream in (each for theirs in found.values() for each in theirs):
            assert last_event(stream.rest()) == "response.completed"
        assert gateway.leaves() == 0
    assert not list(tmp_path.glob("latchway.db-*")), "the ledger was closed behind all else"
    assert alive(tmp_path) == set()
    assert {state for _, state, _ in rows(tmp_path, STATES)} == {"settled"}
    assert faults(tmp_path) == []


def test_a_second_signal_ends_turns_at_once_also_over_tls(tmp_path: Path, lab: Running) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    made.private_key_pem.write_to_path(tmp_path / "tls.key")
    (tmp_path / "tls.key").chmod(0o600)
    more = "tls: {certificate: tls.crt, key: tls.key}"
    secret = configure(tmp_path, lab, shutdown_seconds=600, more=more)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    with serving(tmp_path, secret, workers=2) as gateway, ExitStack() as clients:

        def asks(method: str, path: str, body: str | None = None) -> http.client.HTTPResponse:
            client = http.client.HTTPSConnection(
                "127.0.0.1", gateway.port, timeout=SECONDS, context=trust
            )
            clients.callback(client.close)
            client.request(method, path, body, gateway.headers)
            return client.getresponse()

        def drains() -> bool:
            """A connection that has asked nothing at the moment of the drain is closed."""
            with suppress(ssl.SSLError, ConnectionError):
                answer = asks("GET", "/health/ready")
                answer.read()
                return answer.status == 503
            return False

        turn = asks("POST", "/v1/responses", '{"model": "silent", "input": "x", "stream": true}')
        assert b"response.created" in turn.readline()
        gateway.process.send_signal(signal.SIGINT)
        wait_until(drains)
        gateway.process.send_signal(signal.SIGINT)
        rest = turn.read()
        assert last_event(rest) == "response.failed"
        assert b'"code":"shutting_down"' in rest
        assert gateway.leaves() == 0
    assert [record["code"] for record in records(tmp_path)] == ["shutting_down"]


def test_without_its_supervisor_a_worker_ends_and_nothing_is_owed(
    tmp_path: Path, lab: Running
) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret, workers=2) as gateway:
        ask(gateway)
        stream = Stream(tmp_path, gateway, "silent")
        gateway.process.kill()
        gateway.process.wait(SECONDS)
        assert last_event(stream.rest()) == "response.failed"
        wait_until(lambda: alive(tmp_path) == set())
        assert "I-B3" in latchway("ledger", "verify", folder=tmp_path).stdout
    recover(tmp_path)
    assert sorted(state for _, state, _ in rows(tmp_path, STATES)) == ["settled", "void"]
    assert records(tmp_path)[-1]["served_by"].rpartition("/")[2] == str(stream.pid)
    assert faults(tmp_path) == []


def test_a_failpoint_kills_a_worker_and_its_turn_is_refunded_at_once(
    tmp_path: Path, lab: Running
) -> None:
    secret = configure(tmp_path, lab)
    with serving(tmp_path, secret, "settle:kill", workers=2) as gateway:
        connection = gateway.ask("good")
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            connection.getresponse().read()
        connection.close()
        ((_, state, charged),) = wait_until(
            lambda: [row for row in rows(tmp_path, STATES) if row[1] != "open"]
        )
        assert (state, charged) == ("void", 0)
        assert faults(tmp_path) == []
        assert gateway.ready()
