"""What the commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import CONFIGURATION, configured, latchway
from latchway.commands.common import (
    CommandFault,
    config_path,
    load_settings,
    port_number,
    print_json,
    print_table,
)
from latchway.ledger.database import open_writer

PAGE_BYTES = 4096
MALFORMED = "database disk image is malformed"


def test_a_table_is_aligned_and_shows_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("key", "credit"), [{"key": "alice", "credit": None}, {"key": "b", "credit": True}])

    assert capsys.readouterr().out == "key    credit\nalice  -\nb      yes\n"


def test_a_table_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("model",), [{"model": "m\x1b[2J\n"}])

    assert capsys.readouterr().out == "model\nm?[2J?\n"


def test_json_keeps_every_letter(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "Zoë"})

    assert capsys.readouterr().out == '{\n  "name": "Zoë"\n}\n'


@pytest.mark.parametrize(
    "words", ["keys list", "ledger", "ledger verify", "requests list", "requests show req_1"]
)
def test_a_database_that_is_damaged_is_told_in_a_line(tmp_path: Path, words: str) -> None:
    """Its first page is sound: it can be opened, and what is wrong is found out as it is read."""
    configured(tmp_path)
    database = tmp_path / "latchway.db"
    open_writer(database).close()
    with database.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(b"\xff" * (database.stat().st_size - PAGE_BYTES))

    done = latchway(*words.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"latchway: cannot read the database {database}: {MALFORMED}\n"


def test_the_named_configuration_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    configured(tmp_path)

    assert config_path(None) == Path("latchway.yaml")
    assert config_path(Path("other.yaml")) == Path("other.yaml")


def test_faults_of_the_configuration_are_told_together(tmp_path: Path) -> None:
    file = configured(tmp_path, CONFIGURATION.replace("price:", "prise:"))

    with pytest.raises(CommandFault, match=r"cannot be used:\n.*latchway\.yaml:\d+: ") as fault:
        load_settings(file)
    assert fault.value.status == 1


def test_good_settings_are_loaded(tmp_path: Path) -> None:
    assert list(load_settings(configured(tmp_path)).models) == ["m"]


@pytest.mark.parametrize(("text", "port"), [("0", 0), ("8787", 8787), ("65535", 65535)])
def test_a_port(text: str, port: int) -> None:
    assert port_number(text) == port


@pytest.mark.parametrize("text", ["", "-1", "65536", "http", "٣"])
def test_no_port(text: str) -> None:
    with pytest.raises(Exception, match="is not a port"):
        port_number(text)
