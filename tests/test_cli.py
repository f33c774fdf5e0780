"""The command line: words, exit codes, and how little a command loads."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import SECONDS, configured, latchway
from latchway import __version__, cli

HEAVY = ("asyncio", "latchway.config", "prometheus_client", "ruamel", "ssl", "uvloop")
"""What a command that prints a few words has no business to import."""


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    done = latchway(name, "--help")

    assert done.returncode == 0
    assert "--config" in done.stdout
    assert f"latchway {name}" in done.stdout.partition("example: ")[2]


def test_the_outer_help_names_every_command() -> None:
    done = latchway("--help")

    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in cli.COMMANDS)


def test_the_version_is_the_package_s() -> None:
    assert latchway("--version").stdout == f"latchway {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "COMMAND"),
        (["surve"], "invalid choice: 'surve'"),
        (["failpoints", "--jsn"], "unrecognized arguments: --jsn"),
        (["lab"], "SCRIPT"),
        (["lab", "healthy", "--port", "65536"], "'65536' is not a port"),
        (["keys"], "ACTION"),
        (["keys", "create"], "NAME"),
        (["requests", "show"], "ID"),
        (["ledger", "verfy"], "invalid choice: 'verfy'"),
        (["serve", "--workers", "0"], "say a number from 1 to 256"),
        (["serve", "--workers", "257"], "say a number from 1 to 256"),
        (["serve", "--workers", "-1"], "say a number from 1 to 256"),
        (["serve", "--workers", "all"], "say a number from 1 to 256"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what(words: list[str], said: str) -> None:
    done = latchway(*words)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words", [["keys", "list"], ["requests", "list"], ["ledger"], ["check"]], ids=" ".join
)
def test_a_command_without_a_configuration_says_where_it_looked(
    words: list[str], tmp_path: Path
) -> None:
    done = latchway(*words, folder=tmp_path)

    assert done.returncode == 2
    assert done.stderr == (
        "latchway: no latchway.yaml in this folder; name one with --config FILE\n"
    )


def test_a_reader_that_leaves_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "latchway", "failpoints"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )

    assert done.returncode == cli.READER_LEFT
    assert done.stderr == ""


full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


def spoken(redirected: str, *words: str, folder: Path | None = None) -> tuple[int, str]:
    """Exit code and standard error, of a shell's command with buffers as users have them."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = f'"$0" -m latchway {" ".join(words)} {redirected}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        stderr=subprocess.PIPE, text=True, timeout=SECONDS, env=own, cwd=folder,
    )  # fmt: skip
    return done.returncode, done.stderr


@full
@pytest.mark.parametrize("words", ["failpoints", "failpoints --json", "--help", "keys --help"])
def test_output_that_is_not_taken_is_no_traceback(words: str) -> None:
    said = "latchway: not all of it could be written: No space left on device\n"
    assert spoken(">/dev/full", words) == (cli.FAILED, said)
    assert spoken(">/dev/full 2>&1", words) == (cli.FAILED, "")


@full
def test_a_key_whose_secret_is_not_taken_is_revoked(tmp_path: Path) -> None:
    configured(tmp_path)
    status, said = spoken(">/dev/full", "keys create alice", folder=tmp_path)
    assert (status, said) == (
        cli.FAILED,
        "latchway: the secret of alice could not be written (No space left on device), so its key "
        "is revoked: make another under another name\n",
    )
    listed = json.loads(latchway("keys", "list", "--json", folder=tmp_path).stdout)
    assert [key["revoked"] for key in listed] == [True]


def test_another_fault_of_the_system_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(words: list[str]) -> int:
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(cli, "_run", denied)
    with pytest.raises(PermissionError):
        cli.main(["serve"])


def test_a_small_command_loads_little() -> None:
    code = (
        "import sys; from latchway.cli import main; main(['failpoints', '--json']);"
        "print('|'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS
    )

    listing, _, loaded = done.stdout.rpartition("]\n")
    assert json.loads(f"{listing}]")
    assert not set(HEAVY) & set(loaded.strip().split("|"))


def test_an_interrupt_is_told_by_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert cli.main(["serve"]) == cli.INTERRUPTED
