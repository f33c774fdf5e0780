"""Balances and ledger entries; `verify` computes every invariant anew.

`verify` exits with 1 if an invariant fails, and names the row.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys

from latchway.commands.common import (
    CommandFault,
    add_config,
    add_json,
    books_of,
    print_json,
    print_table,
)

EXAMPLE = "latchway ledger verify"

ACCOUNTS = ("key", "owner", "granted", "charged", "reserved", "available")
ENTRIES = ("at", "key", "kind", "amount", "turn")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Without an action the books are shown."""
    parser.add_argument(
        "action", nargs="?", choices=["verify"], metavar="verify", help="check every invariant"
    )
    parser.add_argument("--key", metavar="NAME", help="of this key alone")
    add_config(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print, or verify: 1 if an invariant fails. CommandFault: no database, no such key."""
    with books_of(args.config) as connection:
        return _verify(connection, args) if args.action else _print(connection, args)


def _print(connection: sqlite3.Connection, args: argparse.Namespace) -> int:
    from latchway.ledger import report

    whole = report.ledger(connection, args.key)
    if args.key is not None and not whole["accounts"]:
        raise CommandFault(f"there is no key {args.key!r}: `latchway keys list` shows them")
    if args.json:
        print_json(whole)
        return 0
    print_table(ACCOUNTS, whole["accounts"])
    print(f"\nborne by the operator: {whole['losses']} USD\n")
    print_table(ENTRIES, whole["entries"])
    return 0


def _verify(connection: sqlite3.Connection, args: argparse.Namespace) -> int:
    from latchway.ledger.verify import verify

    failed = verify(connection)
    if args.json:
        print_json({"good": not failed, "failed": [str(each) for each in failed]})
    else:
        for each in failed:
            print(each)
    print(f"{len(failed)} failed" if failed else "every invariant holds", file=sys.stderr)
    return 1 if failed else 0
