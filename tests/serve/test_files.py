"""File descriptors: as many as there may be, and a line when few are left."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import resource
import socket
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command import SECONDS
from harness.gateway import settings
from latchway.serve import files, process
from serve import processes

FEW = 40


class Taking(asyncio.Transport):
    """A connection on that descriptor; None: one that has none."""

    def __init__(self, number: int | None) -> None:
        super().__init__()
        self.own = None if number is None else self
        self.number = number

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self.own if name == "socket" else default

    def fileno(self) -> int | None:
        return self.number


def test_a_limit_of_open_files_that_is_not_granted_is_no_reason_not_to_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on macOS, which has no hard limit and grants no process as many."""
    asked = []

    def refuse(which: int, limits: tuple[int, int]) -> None:
        asked.append(which)
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    files.allow_many()
    assert asked == [resource.RLIMIT_NOFILE]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    said = [record.getMessage().partition(" file")[0] for record in caplog.records]
    caplog.clear()
    return said


def test_few_that_are_left_are_told_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    seen = files.Files(lambda: now)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1000, 1000))
    for number, said in ((899, []), (None, []), (900, ["901 of 1000"]), (999, [])):
        seen.taken(Taking(number))
        assert told(caplog) == said
    now = files.SILENCE_SECONDS - 1
    seen.taken(Taking(950))
    assert told(caplog) == []
    now = files.SILENCE_SECONDS
    seen.taken(Taking(950))
    assert told(caplog) == ["951 of 1000"]


def test_without_a_limit_none_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda which: unlimited)
    with caplog.at_level(logging.WARNING):
        files.Files(lambda: 0.0).taken(Taking(1 << 20))
    assert told(caplog) == []


class Loop(asyncio.SelectorEventLoop):
    """Notes what its own handler would have said."""

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.said = context["message"]


@pytest.mark.parametrize(
    ("context", "line"),
    [
        ({"exception": OSError(errno.EMFILE, "Too many"), "socket": None}, "no"),
        ({"exception": OSError(errno.ENFILE, "Too many"), "socket": None}, "no"),
        ({"exception": OSError(errno.EMFILE, "Too many")}, None),
        ({"exception": OSError(errno.ENOMEM, "Too little"), "socket": None}, None),
        ({"exception": ValueError("a bug"), "socket": None}, None),
        ({}, None),
    ],
)
def test_what_nobody_handles_is_said_as_ever_but_for_clients_without_a_descriptor(
    context: dict[str, Any], line: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    context = {"message": "as ever", **context}
    with closing(Loop()) as loop:
        seen = files.Files(loop.time)
        for _ in range(2):
            seen.unheard(loop, context)
        assert told(caplog) == ([] if line is None else [line])
        assert vars(loop).get("said") == (None if line else "as ever")


def test_that_none_is_left_is_said_also_behind_few(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1000, 1000))
    seen = files.Files(lambda: 0.0)
    seen.taken(Taking(999))
    fault = OSError(errno.EMFILE, "Too many open files")
    with closing(Loop()) as loop:
        seen.unheard(loop, {"exception": fault, "socket": None})
    assert told(caplog) == ["1000 of 1000", "no"]


def test_connections_to_upstreams_are_seen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(process, "ResponsesUpstreams", lambda settings, **more: asked.update(more))
    ledger: Any = SimpleNamespace(keys=None)
    loop = asyncio.new_event_loop()
    app = process.assemble(settings(), loop, ledger, ledger)
    loop.close()
    assert asked == {"made": app.files.taken}
    assert loop.get_exception_handler() == app.files.unheard


def crowd(gateway: processes.Gateway, opened: ExitStack) -> None:
    """Leave it few descriptors, and take them all, and more."""
    _, most = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (FEW, most))
    for _ in range(FEW):
        address = ("127.0.0.1", gateway.port)
        opened.enter_context(socket.create_connection(address, SECONDS))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="Linux alone sets another's limit")
def test_a_gateway_tells_its_operator(tmp_path: Path) -> None:
    with processes.upstream() as lab, ExitStack() as opened:
        secret = processes.configure(tmp_path, lab)
        gateway = opened.enter_context(processes.serving(tmp_path, secret))
        crowd(gateway, opened)
        assert gateway.process.stderr is not None
        assert f"of {FEW} file descriptors are taken" in gateway.process.stderr.readline()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="Linux alone sets another's limit")
def test_on_asyncios_own_loop_its_operator_is_told_once_that_none_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = tmp_path / "without"
    without.mkdir()
    (without / "uvloop.py").write_text("raise ImportError")
    with processes.upstream() as lab, ExitStack() as opened:
        secret = processes.configure(tmp_path, lab)
        monkeypatch.setenv("PYTHONPATH", str(without))
        gateway = opened.enter_context(processes.serving(tmp_path, secret))
        crowd(gateway, opened)
        assert gateway.process.stderr is not None
        lines = sorted(json.loads(gateway.process.stderr.readline())["message"] for _ in range(2))
        assert f"of {FEW} file descriptors are taken" in lines[0]
        assert "no file descriptor is left" in lines[1]
        gateway.process.terminate()
        assert [each for each in gateway.process.stderr if "descriptor" in each] == []
