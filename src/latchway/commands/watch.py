"""Send a turn to any Responses URL and see every event as it comes; a table at the end.

URL is a base URL with its /v1, or ws:// and wss:// for a WebSocket. The request is made of --model
and --input, or read from standard input. What the column `latchway` shows is what the gateway would
do with each event. The credential comes from the environment, and is neither shown nor saved.

Exit codes: 0 completed or incomplete, 1 failed or a quiet end, 2 used wrongly, 130 stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from latchway.commands.common import FAILED, WRONG_USAGE, CommandFault, add_config

if TYPE_CHECKING:
    from latchway.watch.address import Address
    from latchway.watch.asking import Asking
    from latchway.watch.credential import Credential
    from latchway.watch.recording import Recording

EXAMPLE = """latchway watch https://api.openai.com/v1 --model gpt-5.6-terra --input "Say hello."
         latchway watch http://127.0.0.1:8787/v1 --key-env LATCHWAY_KEY < request.json
         latchway watch ws://127.0.0.1:9001/v1 --model m --raw recorded.yaml --json"""

KEY_ENV = "OPENAI_API_KEY"

REQUEST_BYTES = 128 << 20
"""Of a request on standard input; twice of what the gateway takes by default."""

RESULTS = frozenset({"completed", "incomplete"})
INTERRUPTED = 130


def arguments(parser: argparse.ArgumentParser) -> None:
    """Where, what, and how it is shown."""
    parser.add_argument("url", metavar="URL", help="a base URL, such as http://127.0.0.1:9001/v1")
    parser.add_argument("--model", help="the model's name; in place of the request's own")
    parser.add_argument("--input", metavar="TEXT", help="the input; else a request is read")
    parser.add_argument("--websocket", action="store_true", help="over a WebSocket, also for http")
    parser.add_argument(
        "--key-env", metavar="NAME",
        help=f"the environment variable with the credential (default: {KEY_ENV}, if it is set)",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS",
        help="the longest silence (default: the gateway's 60 before the first event, then 300)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="a line of JSON for each event")
    parser.add_argument(
        "--raw", type=Path, metavar="FILE", help="save what came, for `latchway lab FILE` to play"
    )
    add_config(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r}: say seconds, at most 86400")
    return seconds


def run(args: argparse.Namespace) -> int:
    """Watch one turn. CommandFault: wrong words, or a file that cannot be written."""
    from latchway.upstreams.pool import client_context
    from latchway.watch import show
    from latchway.watch.run import watch

    address, credential = _address(args), _credential(args.key_env)
    asking = _asking(args, websocket=address.websocket)
    if asking.refusal is not None:
        _say(f"a latchway would refuse this request, which is sent all the same: {asking.refusal}")
    lines = show.Lines(sys.stdout, credential)
    shown: show.Show = show.Json(lines) if args.json else show.Text(lines)
    report, recording = asyncio.run(watch(address, asking, credential, shown, client_context()))
    if args.raw is not None:
        _save(args.raw, recording, credential)
    if report.outcome == "stopped":
        return INTERRUPTED
    return 0 if report.outcome in RESULTS else FAILED


def _address(args: argparse.Namespace) -> Address:
    from latchway.watch.address import address_of

    try:
        return address_of(args.url, websocket=args.websocket)
    except ValueError as fault:
        raise CommandFault(f"URL: {fault}", WRONG_USAGE) from None


def _credential(named: str | None) -> Credential:
    """The credential. CommandFault: the variable that was named is not set, or no header."""
    from latchway.upstreams.headers import sound
    from latchway.watch.credential import Credential

    name = named or KEY_ENV
    secret = os.environ.get(name)
    if named is not None and not secret:
        raise CommandFault(f"there is no environment variable {name}", WRONG_USAGE)
    if secret and not sound(secret):
        raise CommandFault(f"{name} holds what a header cannot carry", WRONG_USAGE)
    return Credential(secret or None)


def _asking(args: argparse.Namespace, *, websocket: bool) -> Asking:
    from latchway.watch.asking import asking
    from latchway.wire.errors import RequestFault

    try:
        return asking(_body(args), model=args.model, websocket=websocket, silence=args.timeout)
    except RequestFault as fault:
        raise CommandFault(f"the request: {fault}", WRONG_USAGE) from None


def _body(args: argparse.Namespace) -> bytes:
    """The request: of the words, or from standard input."""
    from latchway.watch.asking import DEFAULT_INPUT, in_words

    if args.input is None and not sys.stdin.isatty():
        body = sys.stdin.buffer.read(REQUEST_BYTES + 1)
        if len(body) > REQUEST_BYTES:
            raise CommandFault(f"the request is over {REQUEST_BYTES} bytes", WRONG_USAGE)
        if body.strip():
            return body
    if args.model is None:
        raise CommandFault("say --model NAME, or give a request on standard input", WRONG_USAGE)
    return in_words(args.model, DEFAULT_INPUT if args.input is None else args.input)


def _save(file: Path, recording: Recording, credential: Credential) -> None:
    """For its owner alone: it is what a model said."""
    if recording.empty:
        _say(f"nothing came; {file} is not written")
        return
    try:
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(opened, "w", encoding="utf-8") as out:
            os.fchmod(opened, 0o600)  # of a file that was there before, too
            out.write(recording.script(credential))
    except OSError as error:
        raise CommandFault(f"cannot write {file}: {error.strerror}") from None
    if recording.cut_short:
        _say(f"{file} holds the beginning alone: there was more than a script may hold")


def _say(line: str) -> None:
    print(f"latchway: {line}", file=sys.stderr)
