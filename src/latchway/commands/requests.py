"""The request log: one record for each turn, with all its attempts and why it ended as it did.

ID is a request id (`x-request-id`) or a response id.
"""

from __future__ import annotations

import argparse
from typing import Any

from latchway.commands.common import (
    CommandFault,
    add_config,
    add_json,
    books_of,
    print_json,
    print_table,
    printable,
)

EXAMPLE = "latchway requests show req_0123456789abcdef01234567"

LIST_DEFAULT = 20
LIST_MOST = 10_000
"""Records in one answer: more is a job for the database."""

LIST_COLUMNS = ("request_id", "started_at", "key", "model", "outcome", "code", "replayed")
ATTEMPT_COLUMNS = (
    "number", "route", "outcome", "failure", "rule", "code", "verdict", "ended_ms", "cost",
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Two actions: the list, and one record."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the newest first", description="The newest first.")
    listing.add_argument("--limit", type=_limit, default=LIST_DEFAULT, metavar="N")
    show = actions.add_parser("show", help="one of them, whole", description="One of them, whole.")
    show.add_argument("id", metavar="ID", help="a request id or a response id")
    for each in (listing, show):
        add_config(each, inner=True)
        add_json(each)
    add_config(parser)


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LIST_MOST):
        raise argparse.ArgumentTypeError(f"{text!r}: say a number from 1 to {LIST_MOST}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Print records. CommandFault: no such record, or no database."""
    from latchway.log import store

    with books_of(args.config) as connection:
        if args.action == "list":
            _print_list(store.newest(connection, args.limit), args.json)
        else:
            _print_one(store.find(connection, args.id), args)
    return 0


def _print_list(records: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(records)
    else:
        print_table(LIST_COLUMNS, records)


def _print_one(record: dict[str, Any] | None, args: argparse.Namespace) -> None:
    if record is None:
        raise CommandFault(f"there is no request or response {args.id!r} in the log")
    if args.json:
        print_json(record)
        return
    plain = {k: v for k, v in record.items() if k not in ("attempts", "billing")}
    print_table(("field", "value"), [{"field": k, "value": v} for k, v in plain.items()])
    print()
    print_table(ATTEMPT_COLUMNS, record["attempts"])
    for attempt in record["attempts"]:
        if attempt.get("reason"):  # a record that an older version wrote has none
            print(printable(f"attempt {attempt['number']}: {attempt['reason']}"))
    print()
    print_table(tuple(record["billing"]), [record["billing"]])
