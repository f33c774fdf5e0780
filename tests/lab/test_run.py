"""The command: it says where it listens and what happened, and ends when it is told to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.harness import PATIENCE, read_to_end, request
from latchway.lab import server


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
