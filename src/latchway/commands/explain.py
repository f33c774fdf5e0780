"""What the gateway would do with a request: its binding, its routes, its replay, its reservation.

The body is read from standard input, as a client would send it to POST /v1/responses. Nothing is
called and nothing is written. A request that would be refused shows the error that a client would
get, and exits with 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from latchway.commands.common import (
    FAILED,
    CommandFault,
    add_config,
    add_json,
    load_settings,
    print_json,
)

if TYPE_CHECKING:
    from latchway.explain.asked import Account
    from latchway.explain.plan import Plan, Refusal
    from latchway.routes.table import Known
    from latchway.settings import Settings

EXAMPLE = """latchway explain --key alice < request.json
         echo '{"model": "gpt-5.6-terra", "input": "hi"}' | latchway explain
         latchway explain --route backup/terra-2 --json < request.json"""

MS_PER_DAY = 86_400_000

RUNNING = "which routes are set aside, and how many replays are in flight: a running gateway knows"
NO_KEY = "the balance: say --key NAME"
ASSUMED = "who made what it holds or continues: say --key NAME; taken as made by {}"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What a client would say beside the body, and who it is."""
    parser.add_argument("--key", metavar="NAME", help="whose request it is, by the key's name")
    parser.add_argument(
        "--header", action="append", type=_header, default=[], metavar="'NAME: VALUE'",
        help="a header of the request, such as 'x-latchway-route: NAME'",
    )  # fmt: skip
    parser.add_argument("--route", metavar="NAME", help="the same as that header")
    parser.add_argument("--websocket", action="store_true", help="as a response.create on a socket")
    add_config(parser)
    add_json(parser)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: say 'NAME: VALUE'")
    return name.strip().lower(), value.strip()


def run(args: argparse.Namespace) -> int:
    """Explain one request. CommandFault: no configuration, or no such key."""
    from latchway.explain import show
    from latchway.explain.plan import Refusal

    settings = load_settings(args.config)
    body = sys.stdin.buffer.read(settings.limits.request_bytes + 1)
    found, unknown = _ask(args, settings, body)
    if isinstance(found, Refusal):
        refusal = show.refusal_as_json(found) if args.json else show.refusal_as_text(found)
        _print(refusal)
        return FAILED
    _print(show.as_json(found, unknown) if args.json else show.as_text(found, unknown))
    return 0


def _ask(
    args: argparse.Namespace, settings: Settings, body: bytes
) -> tuple[Plan | Refusal, Sequence[str]]:
    """The plan, and what it does not know."""
    from latchway.explain import plan
    from latchway.explain.asked import Assumed
    from latchway.routes.table import PIN_HEADER
    from latchway.wire.errors import RequestFault

    headers = dict(args.header) | ({PIN_HEADER: args.route} if args.route else {})
    try:
        request = plan.read(body, headers, settings, websocket=args.websocket)
    except RequestFault as fault:
        return plan.refused(fault), ()
    if args.key is not None:
        with _ledger(settings, args.key) as (known, account):
            return plan.plan(request, settings, known, account), (RUNNING,)
    model = settings.models.get(request.model)
    assumed = Assumed(model.routes[0].name if model else "")
    found = plan.plan(request, settings, assumed, None)
    made = (ASSUMED.format(model.routes[0].name),) if model and assumed.asked else ()
    return found, (NO_KEY, *made, RUNNING)


@contextmanager
def _ledger(settings: Settings, key: str) -> Iterator[tuple[Known, Account]]:
    """What the ledger knows, read-only. CommandFault: it cannot be read, or has no such key."""
    from latchway.explain.asked import account_of
    from latchway.ledger.database import LedgerFault, reading
    from latchway.ledger.known import Known

    try:
        with reading(settings.database) as reader:
            account = account_of(reader, key)
            if account is None:
                raise CommandFault(f"there is no key {key!r}: `latchway keys list` shows them")
            keep_ms = round(settings.log_keep_days * MS_PER_DAY)
            yield Known(reader, lambda: time.time_ns() // 1_000_000, keep_ms), account
    except LedgerFault as fault:
        raise CommandFault(str(fault)) from None


def _print(found: object) -> None:
    if isinstance(found, str):
        sys.stdout.write(found)
    else:
        print_json(found)
