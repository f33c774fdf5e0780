"""What is a call and what is not, which reply it gets, and what the lab remembers; the command."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.harness import PATIENCE, head_and_rest, read_to_end, read_until, request, running
from latchway.lab import server


def test_the_last_reply_repeats() -> None:
    with running([{"status": 503}, {"status": 200, "body": "fine"}]) as lab:
        statuses = [lab.ask().split(b" ", 2)[1] for _ in range(3)]
        assert statuses == [b"503", b"200", b"200"]
        assert [call.reply for call in lab.lab.calls] == ["[0]", "[1]", "[1]"]


def test_models_and_health_are_no_calls() -> None:
    with (
        running({"models": ["fast"], "calls": [{"status": 500}]}) as lab,
        lab.connect() as connection,
    ):
        connection.sendall(request("GET", "/v1/models"))
        models = json.loads(read_until(connection, b"]}").partition(b"\r\n\r\n")[2])
        connection.sendall(request("GET", "/health", close=True))
        assert read_to_end(connection).endswith(b'{"status":"ok"}')
        assert [model["id"] for model in models["data"]] == ["fast"]
        assert lab.lab.calls == []


def test_routes_are_chosen_by_model_and_by_input() -> None:
    script = {
        "routes": [
            {"when": {"model": "a", "input": "break"}, "calls": [{"body": "broken"}]},
            {"when": {"model": "a"}, "calls": [{"body": "first"}, {"body": "second"}]},
        ]
    }
    parts = [{"role": "user", "content": [{"type": "input_text", "text": "now break"}]}]
    with running(script) as lab:
        bodies = [
            head_and_rest(lab.ask(model="a", input=text))[1]
            for text in ("hi", parts, [{"role": "user", "content": "hi"}])
        ]
        stranger = lab.ask(model="b", input="hi")
    assert bodies == [b"first", b"broken", b"second"]
    assert stranger.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert b"model_not_found" in stranger


def test_stopping_resets_what_is_open() -> None:
    with running([{"events": ["silence"]}]) as lab:
        connection = lab.connect()
        connection.sendall(request(stream=True))
        read_until(connection, b"\r\n\r\n")
    with connection, pytest.raises(ConnectionResetError):
        connection.recv(1)


def started(script: str, port: int) -> subprocess.Popen[str]:
    code = f"import sys; from latchway.lab.server import run; sys.exit(run({script!r}, {port}))"
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_ready_script_by_its_name(stop: signal.Signals) -> None:
    with started("fails-before-output", 0) as process:
        assert process.stderr is not None
        listening = process.stderr.readline()
        port = int(listening.partition("127.0.0.1:")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(request(close=True, stream=True))
            assert b"server_is_overloaded" in read_to_end(connection)
        assert process.stderr.readline().startswith(
            "#1 http POST /v1/responses: [0], 3 events, clean"
        )
        process.send_signal(stop)
        assert process.stderr.read() == "lab: ended after 1 call\n"
    assert process.returncode == 0


def test_a_bad_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("- status: many\n")
    assert server.run(file, 0) == 1
    assert capsys.readouterr().err.startswith(f"{file}:1: [0].status: must be a whole number")


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert server.run("healthy", port) == 1
    assert f"cannot listen on 127.0.0.1:{port}: " in capsys.readouterr().err
