"""`latchway explain` reads a request and says what would be done with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import configured, in_process, latchway
from latchway.ledger import made
from latchway.ledger.control import Store
from latchway.ledger.database import open_writer
from latchway.ledger.sqlite import wall_clock_ms
from latchway.wire.marks import mark
from serve.processes import configure, serving, upstream

ASKED = '{"model": "m", "input": "hi"}'
CONTINUED = '{"model": "m", "input": "hi", "store": false, "previous_response_id": "resp_1"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration, and no database."""
    configured(tmp_path)
    return tmp_path


def test_without_a_database_it_says_what_it_does_not_know(folder: Path) -> None:
    done = latchway("explain", folder=folder, said=CONTINUED)

    assert done.returncode == 0
    assert "binding      continuation, by `previous_response_id`" in done.stdout
    assert "say --key NAME; taken as made by here/m" in done.stdout
    assert [file.name for file in folder.iterdir()] == ["latchway.yaml"]


def test_with_a_key_its_balance_counts(folder: Path) -> None:
    with Store.open(folder / "latchway.db") as store:
        store.create("rich", credit=1_000_000_000)
        store.create("poor")

    rich = in_process("explain", "--key", "rich", "--json", folder=folder, said=ASKED)
    assert (rich.returncode, json.loads(rich.stdout)["account"]["key"]) == (0, "rich")
    poor = in_process("explain", "--key", "poor", "--json", folder=folder, said=ASKED)
    assert poor.returncode == 1
    assert json.loads(poor.stdout)["refused"]["error"]["code"] == "insufficient_balance"


def test_with_a_key_an_unknown_id_is_refused_as_it_would_be(folder: Path) -> None:
    with Store.open(folder / "latchway.db") as store:
        store.create("alice", unlimited=True)
    done = in_process("explain", "--key", "alice", "--json", folder=folder, said=CONTINUED)

    assert done.returncode == 1
    assert json.loads(done.stdout)["refused"]["error"]["code"] == "previous_response_not_found"


def test_with_a_key_what_it_made_is_known(folder: Path) -> None:
    file = folder / "latchway.db"
    with Store.open(file) as store:
        store.create("alice", "team", unlimited=True)
    connection = open_writer(file)
    made.put(connection, "team", "here/m", [mark("resp_1")], wall_clock_ms())
    connection.close()
    done = in_process("explain", "--key", "alice", "--json", folder=folder, said=CONTINUED)

    assert done.returncode == 0
    assert json.loads(done.stdout)["binding"] == "continuation"


@pytest.mark.parametrize("words", [("--route", "here/m"), ("--header", "X-Latchway-Route: here/m")])
def test_a_route_can_be_pinned_either_way(folder: Path, words: tuple[str, str]) -> None:
    done = in_process("explain", *words, "--json", folder=folder, said=ASKED)

    assert json.loads(done.stdout)["bound_by"] == "x-latchway-route"


def test_a_body_that_is_none_is_refused_with_the_clients_error(folder: Path) -> None:
    done = in_process("explain", folder=folder, said="no JSON")

    assert done.returncode == 1
    assert done.stdout.startswith("refused      400 invalid_json")


def test_a_socket_has_no_background_turns(folder: Path) -> None:
    asked = '{"model": "m", "background": true}'

    assert in_process("explain", folder=folder, said=asked).returncode == 0
    done = in_process("explain", "--websocket", folder=folder, said=asked)
    assert "unsupported_parameter" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("--key", "alice"), 1, "no database"),
        (("--header", "no colon"), 2, "NAME: VALUE"),
        (("--config", "nowhere.yaml"), 1, "nowhere.yaml"),
    ],
)
def test_wrong_words_are_told(folder: Path, words: tuple[str, str], status: int, told: str) -> None:
    done = in_process("explain", *words, folder=folder, said=ASKED)

    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr


def test_a_key_that_is_not_there_is_told(folder: Path) -> None:
    with Store.open(folder / "latchway.db") as store:
        store.create("alice")

    assert "'bob'" in in_process("explain", "--key", "bob", folder=folder, said=ASKED).stderr


def test_it_works_while_a_gateway_runs(tmp_path: Path) -> None:
    with upstream() as lab:
        secret = configure(tmp_path, lab)
        with serving(tmp_path, secret):
            asked = '{"model": "good", "input": "hi"}'
            done = in_process("explain", "--key", "alice", folder=tmp_path, said=asked)

    assert done.returncode == 0, done.stderr
    assert "2. spare      a replay can go there" in done.stdout
    assert "alice has 5.000000000 USD available" in done.stdout


def test_its_help_has_examples() -> None:
    shown = in_process("explain", "--help").stdout

    assert shown.count("latchway explain") >= 4
