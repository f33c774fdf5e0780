"""`latchway keys` with no gateway running: it makes the database itself."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from command import configured, latchway


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    configured(tmp_path)
    return tmp_path


def keys(folder: Path, *words: str) -> CompletedProcess[str]:
    return latchway("keys", *words, folder=folder)


def listed(folder: Path) -> dict[str, dict[str, object]]:
    return {row["key"]: row for row in json.loads(keys(folder, "list", "--json").stdout)}


def test_the_secret_alone_goes_to_standard_output(folder: Path) -> None:
    done = keys(folder, "create", "alice", "--credit", "5.00")

    assert done.returncode == 0
    assert done.stdout.startswith("lw_")
    assert len(done.stdout.split()) == 1
    assert "credit 5.000000000" in done.stderr
    assert done.stdout.strip() not in done.stderr


def test_as_json(folder: Path) -> None:
    made = json.loads(keys(folder, "create", "bob", "--owner", "team", "--json").stdout)

    assert list(made) == ["name", "key", "owner", "credit"]
    assert (made["name"], made["owner"], made["credit"]) == ("bob", "team", "0.000000000")


def test_a_name_that_is_taken_exits_with_1(folder: Path) -> None:
    assert keys(folder, "create", "alice").returncode == 0

    again = keys(folder, "create", "alice")
    assert again.returncode == 1
    assert "'alice'" in again.stderr
    assert again.stdout == ""


def test_credit_adds_up(folder: Path) -> None:
    keys(folder, "create", "alice", "--credit", "1")
    assert keys(folder, "credit", "alice", "0.5").returncode == 0

    assert listed(folder)["alice"]["granted"] == "1.500000000"


def test_an_unlimited_key_takes_no_credit(folder: Path) -> None:
    keys(folder, "create", "root", "--unlimited")

    assert keys(folder, "credit", "root", "1").returncode == 1


@pytest.mark.parametrize("action", [("revoke",), ("credit",)])
def test_a_key_that_is_not_there_exits_with_1(folder: Path, action: tuple[str, ...]) -> None:
    amount = ["1"] if action == ("credit",) else []
    keys(folder, "create", "alice")

    done = keys(folder, *action, "alcie", *amount)
    assert done.returncode == 1
    assert "'alcie'" in done.stderr


def test_a_revoked_key_stays_in_the_list(folder: Path) -> None:
    keys(folder, "create", "alice")
    assert keys(folder, "revoke", "alice").returncode == 0

    assert listed(folder)["alice"]["revoked"]


def test_the_list_is_a_table_for_people(folder: Path) -> None:
    keys(folder, "create", "alice", "--credit", "2")

    head, row = keys(folder, "list").stdout.splitlines()
    assert head.split()[:3] == ["key", "owner", "granted"]
    assert row.split()[:3] == ["alice", "alice", "2.000000000"]


@pytest.mark.parametrize("amount", ["-1", "1,5", "0.0000000001", "lots"])
def test_an_amount_that_is_none_exits_with_2(folder: Path, amount: str) -> None:
    assert keys(folder, "create", "alice", f"--credit={amount}").returncode == 2


def test_credit_and_unlimited_exclude_each_other(folder: Path) -> None:
    assert keys(folder, "create", "alice", "--credit", "1", "--unlimited").returncode == 2


def test_the_configuration_may_stand_before_the_action(folder: Path, tmp_path: Path) -> None:
    file = str(folder / "latchway.yaml")
    keys(folder, "create", "alice")

    assert latchway("keys", "--config", file, "list").stdout.split()
    assert latchway("keys", "list", "--config", file).stdout.split()


@pytest.mark.parametrize(
    ("credit", "told"), [([], True), (["--credit", "1"], False), (["--unlimited"], False)]
)
def test_a_key_that_cannot_pay_says_how_it_can(folder: Path, credit: list[str], told: bool) -> None:
    done = keys(folder, "create", "alice", *credit)
    assert ("latchway keys credit alice USD" in done.stderr) is told
