"""`latchway check` prints every fault of a configuration, and fails if there is one."""

from __future__ import annotations

import json
from pathlib import Path

from command import CONFIGURATION, configured, latchway


def test_a_good_configuration_exits_with_0(tmp_path: Path) -> None:
    done = latchway("check", "--config", str(configured(tmp_path)))

    assert done.returncode == 0
    assert ": good" in done.stderr


def test_each_fault_is_a_line_with_file_line_and_path(tmp_path: Path) -> None:
    faulty = CONFIGURATION.replace("provider: here", "provider: there") + "replay: {min: -1}\n"
    done = latchway("check", "--config", str(configured(tmp_path, faulty)))

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any("latchway.yaml:11: models.m.routes[0].provider: " in line for line in lines)
    assert any("latchway.yaml:12: replay.min: " in line for line in lines)
    assert "2 faults" in done.stderr


def test_advice_alone_is_no_failure(tmp_path: Path) -> None:
    unsaid = CONFIGURATION.replace(", store_default: false", "")
    done = latchway("check", "--config", str(configured(tmp_path, unsaid)))

    assert done.returncode == 0
    assert "store_default" in done.stdout
    assert "of advice" in done.stderr


def test_as_json(tmp_path: Path) -> None:
    faulty = CONFIGURATION.replace("provider: here", "provider: there")
    done = latchway("check", "--json", "--config", str(configured(tmp_path, faulty)))

    found = [row for row in json.loads(done.stdout) if row["severity"] == "fault"]
    assert [(row["path"], row["line"]) for row in found] == [("models.m.routes[0].provider", 11)]
    assert done.returncode == 1


def test_a_file_that_is_not_there_is_a_fault_not_a_traceback(tmp_path: Path) -> None:
    done = latchway("check", "--config", str(tmp_path / "nowhere.yaml"))

    assert done.returncode == 1
    assert "nowhere.yaml" in done.stdout
    assert "Traceback" not in done.stderr
