"""LOCK and the fixtures agree: each is named there, each belongs to a scenario, none is stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from lock import fixtures
from lock.fixtures import LOCK, files, lines_of, lock_of, name_of, names, scenario


def wanted() -> set[Path]:
    """The fixtures that the scenarios have."""
    scripts = {fixtures.scenario_file(name) for name in names()}
    wires = {
        fixtures.wire_file(name, transport)
        for name in names()
        for transport in scenario(name).transports
    }
    return scripts | wires


def test_no_fixture_is_an_orphan() -> None:
    """A file without a scenario, or a scenario without its files."""
    assert set(files()) == wanted()


def test_lock_says_what_is_there() -> None:
    """`make lock` writes both; a fixture that was changed by hand, or alone, is seen here."""
    assert LOCK.read_text(encoding="utf-8") == lock_of(files())


def test_a_change_of_one_byte_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixtures, "HERE", tmp_path)
    fixture = tmp_path / "a.sse"
    fixture.write_bytes(b"HTTP/1.1 200 OK\r\n")
    before = lock_of([fixture])
    fixture.write_bytes(b"HTTP/1.1 200 OK\r\r")
    assert name_of(fixture) == "a.sse"
    assert set(lines_of(before)) == set(lines_of(lock_of([fixture]))) == {"a.sse"}
    assert before != lock_of([fixture])
