"""Client keys and their prepaid balance.

A key's secret is printed once, when it is made; the database holds a digest of it. What changes
here holds for the next turn, on open sockets too, also while a gateway runs.
"""

from __future__ import annotations

import argparse
import sys

from latchway.commands.common import (
    CommandFault,
    add_config,
    add_json,
    books_of,
    database_of,
    print_json,
    print_table,
)
from latchway.ledger.prices import format_usd, parse_usd

EXAMPLE = "latchway keys create alice --credit 5.00"

UNSEEN = (
    "the secret of {} could not be written ({}), so its key is revoked: make another under another "
    "name"
)

COLUMNS = ("key", "owner", "granted", "charged", "reserved", "available", "unlimited", "revoked")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Four actions, each with its own words."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _action(actions, "create", "make a key and print its secret, once")
    create.add_argument("name", metavar="NAME")
    create.add_argument("--owner", help="who it belongs to (default: NAME)")
    money = create.add_mutually_exclusive_group()
    money.add_argument("--credit", type=_amount, default=0, metavar="USD", help="default: 0")
    money.add_argument("--unlimited", action="store_true", help="no balance is checked")
    _action(actions, "list", "all keys with their balances")
    revoke = _action(actions, "revoke", "end a key; its account stays")
    revoke.add_argument("name", metavar="NAME")
    credit = _action(actions, "credit", "add to a key's balance")
    credit.add_argument("name", metavar="NAME")
    credit.add_argument("amount", type=_amount, metavar="USD")
    add_config(parser)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, meaning: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=meaning, description=meaning)
    add_config(parser, inner=True)
    add_json(parser)
    return parser


def _amount(text: str) -> int:
    try:
        return parse_usd(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(args: argparse.Namespace) -> int:
    """Do one action. CommandFault: the ledger cannot be reached, or refuses it."""
    from latchway.ledger.database import LedgerFault
    from latchway.ledger.keys import KeyFault

    try:
        ACTIONS[args.action](args)
    except (LedgerFault, KeyFault) as fault:
        raise CommandFault(str(fault)) from None
    return 0


def _create(args: argparse.Namespace) -> None:
    from latchway.ledger.control import Store

    owner = args.owner or args.name
    credit = "unlimited" if args.unlimited else format_usd(args.credit)
    with Store.open(database_of(args.config)) as store:
        secret = store.create(args.name, owner, args.credit, unlimited=args.unlimited)
        try:
            if args.json:
                print_json({"name": args.name, "key": secret, "owner": owner, "credit": credit})
            else:
                print(secret)
            sys.stdout.flush()
        except OSError as fault:
            store.revoke(args.name)
            raise CommandFault(UNSEEN.format(args.name, fault.strerror)) from None
    if not args.json:
        _remark(args, f"key {args.name} of {owner}, credit {credit}")


def _remark(args: argparse.Namespace, made: str) -> None:
    print(f"{made}; the secret is not shown again", file=sys.stderr)
    if not (args.credit or args.unlimited):
        print(f"it can pay for nothing yet: latchway keys credit {args.name} USD", file=sys.stderr)


def _list(args: argparse.Namespace) -> None:
    from latchway.ledger import report

    with books_of(args.config) as connection:
        rows = report.keys(connection)
    if args.json:
        print_json(rows)
    else:
        print_table(COLUMNS, rows)


def _revoke(args: argparse.Namespace) -> None:
    from latchway.ledger.control import Store

    with Store.open(database_of(args.config)) as store:
        store.revoke(args.name)
    _done(args, {"name": args.name, "revoked": True}, f"key {args.name} is revoked")


def _credit(args: argparse.Namespace) -> None:
    from latchway.ledger.control import Store

    with Store.open(database_of(args.config)) as store:
        store.credit(args.name, args.amount)
    amount = format_usd(args.amount)
    _done(args, {"name": args.name, "credit": amount}, f"{amount} USD added to {args.name}")


def _done(args: argparse.Namespace, value: dict[str, object], said: str) -> None:
    if args.json:
        print_json(value)
    else:
        print(said, file=sys.stderr)


ACTIONS = {"create": _create, "list": _list, "revoke": _revoke, "credit": _credit}
