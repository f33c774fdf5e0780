"""The subjects' configurations can be read once their words are filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import subjects
from bench.subjects import PEERS, SUBJECTS, Place
from bench.workloads import Unknown
from command import latchway


def place(folder: Path) -> Place:
    return Place(folder, 8001, 8002, 8003, "bench-508-0")


@pytest.mark.parametrize("name", ["latchway.yaml", "nginx.conf", "litellm.yaml"])
def test_every_word_of_a_configuration_is_filled_in(name: str, tmp_path: Path) -> None:
    filled = subjects.configured(place(tmp_path), name).read_text()
    assert "@" in (PEERS / name).read_text()
    assert "@" not in filled
    assert "127.0.0.1:8003" in filled


def test_the_gateway_takes_its_configuration(tmp_path: Path) -> None:
    file = subjects.configured(place(tmp_path), "latchway.yaml")
    checked = latchway("check", "--config", str(file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_subjects_and_transports_are_chosen_in_the_tables_order() -> None:
    assert [each.name for each in subjects.chosen_subjects(["nginx", "latchway"])] == [
        "latchway",
        "nginx",
    ]
    assert subjects.transports(["websocket", "http"]) == ["http", "websocket"]


def test_a_strange_name_is_told() -> None:
    with pytest.raises(Unknown, match=r"no subject apache; known: latchway, direct, "):
        subjects.chosen_subjects(["apache"])
    with pytest.raises(Unknown, match=r"no transport http3; known: http, websocket"):
        subjects.transports(["http3"])


def test_every_peer_has_its_pins_or_its_configuration() -> None:
    files = {file.name for file in PEERS.iterdir()}
    without = {"latchway", "latchway-2", "direct", "relay", "relay-events", "nginx"}
    peers = [each.name for each in SUBJECTS if each.name not in without]
    assert {f"requirements-{name}.txt" for name in peers} <= files
