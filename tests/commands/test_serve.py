"""`latchway serve`: what it refuses, and a gateway that runs until it is told to leave."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command import SECONDS, configured, latchway
from latchway.demo.stage import any_port
from workers.processes import alive


@contextmanager
def serving(
    folder: Path, *words: str, before: str = ""
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A gateway that listens, and its port. `before`: what the shell does that starts it."""
    port = any_port("127.0.0.1")
    command = [sys.executable, "-m", "latchway", "serve", "--port", str(port), *words]
    command = ["sh", "-c", f'{before or ":"}; exec "$@"', "sh", *command]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as gateway:
        try:
            assert gateway.stderr is not None
            for line in gateway.stderr:
                if f":{port}" in line:
                    break
            yield gateway, port
        finally:
            if gateway.poll() is None:
                gateway.send_signal(signal.SIGTERM)
            gateway.communicate(timeout=SECONDS)


def get(port: int, path: str, key: str = "") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def ask(port: int, key: str) -> tuple[str, int]:
    """A turn's id and its status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/responses", '{"model": "m", "input": "hi"}', headers)
    answer = connection.getresponse()
    connection.close()
    return str(answer.headers["x-request-id"]), answer.status


def test_it_serves_until_sigterm(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(tmp_path) as (gateway, port):
        assert get(port, "/health/ready")[0] == 200
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(SECONDS) == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_terminal_that_is_closed_lets_it_leave_in_order(workers: str, tmp_path: Path) -> None:
    """The hangup reaches the workers, too."""
    configured(tmp_path)
    with serving(tmp_path, "--workers", workers) as (gateway, _):
        for pid in (*alive(tmp_path), gateway.pid):
            os.kill(pid, signal.SIGHUP)
        assert gateway.wait(SECONDS) == 0


def test_a_hangup_that_nohup_has_called_off_is_none(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(tmp_path, before="trap '' HUP") as (gateway, _):
        status = Path(f"/proc/{gateway.pid}/status").read_text()
        ignored = int(re.findall(r"SigIgn:\s*(\w+)", status)[0], 16)
        assert ignored & 1 << signal.SIGHUP - 1


def test_it_opens_as_many_files_as_it_may(tmp_path: Path) -> None:
    """Not as few as a shell or a service manager gives to whoever does not ask."""
    configured(tmp_path)
    with serving(tmp_path, before="ulimit -Sn 64") as (gateway, _):
        now, most = resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE)
        assert now == most > 64


def ready(port: int) -> bool:
    try:
        return get(port, "/health/ready")[0] == 200
    except OSError:
        return False


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("redirected", ["", "2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_it_serves_and_leaves_though_nobody_hears_it(
    redirected: str, workers: str, tmp_path: Path
) -> None:
    """A reader of its log that has left, a full disk, standard files that were never open."""
    configured(tmp_path)
    port = any_port("127.0.0.1")
    words = [sys.executable, "-m", "latchway", "serve", "--port", str(port), "--workers", workers]
    command = ["sh", "-c", f'unset PYTHONUNBUFFERED; exec "$@" {redirected}', "sh", *words]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as gateway:
        assert gateway.stderr is not None
        gateway.stderr.close()
        while not ready(port):
            assert gateway.poll() is None
        assert get(port, "/v1/models", "wrong")[0] == 401
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(SECONDS) == 0


def test_after_a_clean_stop_the_database_is_one_whole_file(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(tmp_path) as (gateway, port):
        assert latchway("keys", "create", "alice", folder=tmp_path).returncode == 0
        assert get(port, "/health/ready")[0] == 200
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(SECONDS) == 0

    assert not list(tmp_path.glob("latchway.db-*"))
    copy = tmp_path / "copy"
    copy.mkdir()
    configured(copy)
    shutil.copy(tmp_path / "latchway.db", copy)
    assert "alice" in latchway("keys", "list", folder=copy).stdout


def test_a_key_that_is_made_while_it_runs_holds_at_once(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(tmp_path) as (_, port):
        made = latchway("keys", "create", "alice", "--json", folder=tmp_path)
        secret = json.loads(made.stdout)["key"]
        assert get(port, "/v1/models", secret)[0] == 200

        assert latchway("keys", "revoke", "alice", folder=tmp_path).returncode == 0
        assert get(port, "/v1/models", secret)[0] == 401


@pytest.mark.parametrize("workers", ["1", "2"])
def test_why_an_upstream_cannot_be_reached_stands_in_the_record(
    workers: str, tmp_path: Path
) -> None:
    """For the operator; its own key is not told what is wrong behind the gateway."""
    configured(tmp_path)
    key = latchway("keys", "create", "alice", "--unlimited", folder=tmp_path).stdout.strip()
    with serving(tmp_path, "--workers", workers) as (_, port):
        turn, status = ask(port, key)
        theirs = json.loads(get(port, f"/v1/requests/{turn}", key)[1])

    shown = json.loads(latchway("requests", "show", turn, "--json", folder=tmp_path).stdout)
    assert status == 502
    assert shown["attempts"][0]["reason"] == "the upstream refused the connection (ECONNREFUSED)"
    assert "reason" not in theirs["attempts"][0]


def test_a_second_gateway_on_the_same_database_is_refused(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(tmp_path):
        second = latchway("serve", "--port", "0", folder=tmp_path)

    assert second.returncode == 1
    assert "Traceback" not in second.stderr


def test_a_port_that_is_taken_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    configured(tmp_path)
    configured(tmp_path / "other")
    with serving(tmp_path) as (_, port):
        second = latchway("serve", "--port", str(port), folder=tmp_path / "other")

    assert second.returncode == 1
    assert str(port) in second.stderr
    assert "Traceback" not in second.stderr


def test_without_a_configuration_the_demo_is_served_and_says_so(tmp_path: Path) -> None:
    port = any_port("127.0.0.1")
    command = [sys.executable, "-m", "latchway", "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as gateway:
        assert gateway.stderr is not None
        said = ""
        for line in gateway.stderr:
            said += line
            if line.startswith("Ctrl-C ends"):
                break
        key = re.search(r"Bearer (lw_\w+)", said)
        assert key
        status, models = get(port, "/v1/models", key.group(1))
        gateway.send_signal(signal.SIGTERM)
        gateway.communicate(timeout=SECONDS)

    assert "no latchway.yaml in this folder: serving the demo configuration" in said
    assert status == 200
    assert json.loads(models)["data"][0]["id"] == "demo"
    assert gateway.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("value", "status"), [("settle:explode", 2), ("nowhere:raise", 2)])
def test_a_wrong_failpoint_is_refused(tmp_path: Path, value: str, status: int) -> None:
    done = latchway("serve", "--test", folder=tmp_path, LATCHWAY_FAILPOINT=value)

    assert done.returncode == status
    assert "LATCHWAY_FAILPOINT" in done.stderr


def test_a_faulty_configuration_is_told_not_served(tmp_path: Path) -> None:
    configured(tmp_path, "listen: nowhere\n")
    done = latchway("serve", folder=tmp_path)

    assert done.returncode == 1
    assert "latchway.yaml:1: listen: " in done.stderr
