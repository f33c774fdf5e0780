"""File descriptors: as many as there may be, and a line when few are left."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from contextlib import ExitStack
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


def test_connections_to_upstreams_are_seen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(process, "ResponsesUpstreams", lambda settings, **more: asked.update(more))
    ledger: Any = SimpleNamespace(keys=None)
    loop = asyncio.new_event_loop()
    app = process.assemble(settings(), loop, ledger, ledger)
    loop.close()
    assert asked == {"made": app.files.taken}


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="Linux alone sets another's limit")
def test_a_gateway_tells_its_operator(tmp_path: Path) -> None:
    with processes.upstream() as lab, ExitStack() as opened:
        secret = processes.configure(tmp_path, lab)
        gateway = opened.enter_context(processes.serving(tmp_path, secret))
        _, most = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (FEW, most))
        for _ in range(FEW):
            address = ("127.0.0.1", gateway.port)
            opened.enter_context(socket.create_connection(address, SECONDS))
        assert gateway.process.stderr is not None
        assert f"of {FEW} file descriptors are taken" in gateway.process.stderr.readline()
