"""`latchway requests` reads the log, with or without a gateway."""

from __future__ import annotations

import io
import json
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from command import configured, latchway
from latchway.commands import requests
from latchway.ledger.database import Lock, open_writer
from latchway.log import store


def record(number: int) -> dict[str, Any]:
    return {
        "request_id": f"req_{number}",
        "response_id": f"resp_{number}",
        "key": "alice",
        "owner": "alice",
        "model": "m",
        "started_at": f"2026-11-29T12:00:0{number}.000Z",
        "outcome": "completed",
        "code": None,
        "replayed": number == 2,
        "attempts": [
            {"number": 1, "route": "here/m", "outcome": "completed", "cost": "0.000000001"}
        ],
        "billing": {"currency": "USD", "charged": "0.000000001"},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose log has three turns."""
    configured(tmp_path)
    lock = Lock(tmp_path / "latchway.db")
    assert lock.take()
    connection = open_writer(tmp_path / "latchway.db")
    for number in (1, 2, 3):
        store.put(connection, record(number))
    connection.close()
    lock.release()
    return tmp_path


def test_the_newest_comes_first(folder: Path) -> None:
    rows = json.loads(latchway("requests", "list", "--json", folder=folder).stdout)

    assert [row["request_id"] for row in rows] == ["req_3", "req_2", "req_1"]


def test_the_limit_is_kept(folder: Path) -> None:
    done = latchway("requests", "list", "--limit", "1", "--json", folder=folder)

    assert len(json.loads(done.stdout)) == 1


def test_the_list_is_a_table_for_people(folder: Path) -> None:
    lines = latchway("requests", "list", folder=folder).stdout.splitlines()

    assert len(lines) == 4
    assert lines[2].split()[0] == "req_2"
    assert lines[2].split()[-1] == "yes"


@pytest.mark.parametrize("known_by", ["req_2", "resp_2"])
def test_a_record_is_found_by_either_id(folder: Path, known_by: str) -> None:
    done = latchway("requests", "show", known_by, "--json", folder=folder)

    assert json.loads(done.stdout) == record(2)


def test_a_record_for_people_shows_attempts_and_billing(folder: Path) -> None:
    shown = latchway("requests", "show", "req_1", folder=folder).stdout

    assert "request_id   req_1" in shown
    assert "here/m" in shown
    assert "currency  charged" in shown


def test_why_a_read_failed_is_said_in_words() -> None:
    """And no escape sequence of anybody's reaches the terminal."""
    failed = {"number": 1, "route": "here/m", "reason": "the upstream refused \x1b[31m"}
    out = io.StringIO()

    with redirect_stdout(out):
        requests._print_one(record(1) | {"attempts": [failed]}, Namespace(json=False))

    assert "attempt 1: the upstream refused ?[31m\n" in out.getvalue()


def test_an_unknown_id_exits_with_1(folder: Path) -> None:
    done = latchway("requests", "show", "req_9", folder=folder)

    assert (done.returncode, done.stdout) == (1, "")
    assert "'req_9'" in done.stderr


@pytest.mark.parametrize("limit", ["0", "-1", "10001", "all"])
def test_a_wrong_limit_exits_with_2(folder: Path, limit: str) -> None:
    assert latchway("requests", "list", f"--limit={limit}", folder=folder).returncode == 2


def test_without_a_database_it_says_what_makes_one(tmp_path: Path) -> None:
    configured(tmp_path)

    done = latchway("requests", "list", folder=tmp_path)
    assert done.returncode == 1
    assert "latchway.db" in done.stderr
    assert "Traceback" not in done.stderr
