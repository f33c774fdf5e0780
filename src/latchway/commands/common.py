"""What the commands share: finding the configuration, and how results are printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

    from latchway.settings import Settings

DEFAULT_CONFIG = Path("latchway.yaml")

FAILED = 1
WRONG_USAGE = 2


class CommandFault(Exception):
    """A command that cannot do what it was asked; its text is for the person who typed it."""

    def __init__(self, message: str, status: int = FAILED) -> None:
        super().__init__(message)
        self.status = status


def add_config(parser: argparse.ArgumentParser, *, inner: bool = False) -> None:
    """`inner`: an action of a command; what was said before its name then stands."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        default=argparse.SUPPRESS if inner else None,
        help="the configuration (default: latchway.yaml in this folder)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def port_number(text: str) -> int:
    """An argument that is a TCP port, 0 for any free one."""
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: say a number from 0 to 65535")
    return int(text)


def config_path(given: Path | None) -> Path:
    """The configuration that was named, else the one in this folder. Raises CommandFault."""
    if given is not None:
        return given
    if DEFAULT_CONFIG.is_file():
        return DEFAULT_CONFIG
    raise CommandFault("no latchway.yaml in this folder; name one with --config FILE", WRONG_USAGE)


def load_settings(given: Path | None) -> Settings:
    """The settings in force. Raises CommandFault with every fault of the file, a line each."""
    from latchway.config import ConfigError, load

    path = config_path(given)
    try:
        return load(path)
    except ConfigError as error:
        lines = "\n".join(str(fault) for fault in error.faults)
        raise CommandFault(f"{path} cannot be used:\n{lines}") from None


def database_of(given: Path | None) -> Path:
    """The database's file of the configuration in force. Raises CommandFault."""
    return load_settings(given).database


@contextmanager
def books_of(given: Path | None) -> Iterator[sqlite3.Connection]:
    """The database of the configuration in force, to read. Raises CommandFault, also later: a
    damaged file is known when the damaged page is read."""
    from latchway.ledger.database import LedgerFault, reading

    try:
        with reading(database_of(given)) as connection:
            yield connection
    except LedgerFault as fault:
        raise CommandFault(str(fault)) from None


def print_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def print_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the named columns of the rows, aligned; None as a dash."""
    lines = [list(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for line in lines:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value))


def printable(text: str) -> str:
    """Without control characters: what a client sent must not steer the operator's terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
