"""`latchway demo --once` from the command line to its last line."""

from __future__ import annotations

import re
from pathlib import Path

from command import latchway


def test_one_turn_is_replayed_and_told(tmp_path: Path) -> None:
    done = latchway("demo", "--once", folder=tmp_path, TMPDIR=str(tmp_path))

    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert re.search(r"attempt 1 on first/demo +failed: server_is_overloaded \(R2\.1\)", told)
    assert re.search(r"attempt 2 on second/demo +completed: \d+ tokens in, \d+ out", told)
    assert re.search(r"one answer, resp_\w+; one charge, 0\.0000\d+ USD", told)


def test_the_client_saw_one_answer_only(tmp_path: Path) -> None:
    told = latchway("demo", "--once", folder=tmp_path, TMPDIR=str(tmp_path)).stdout

    assert told.count("  response.created ") == 1
    assert told.count("  response.completed ") == 1
    assert "response.failed" not in told


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    latchway("demo", "--once", folder=tmp_path, TMPDIR=str(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_a_configuration_that_is_not_used_is_mentioned(tmp_path: Path) -> None:
    done = latchway("demo", "--once", "--config", "mine.yaml", TMPDIR=str(tmp_path))

    assert "--config is not used" in done.stderr
    assert done.returncode == 0
