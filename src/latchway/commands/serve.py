"""Run the gateway until SIGTERM or Ctrl-C; it then ends the turns in flight and leaves.

Without --config: latchway.yaml in this folder, else the demo configuration.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from latchway import failpoints
from latchway.commands.common import (
    DEFAULT_CONFIG,
    WRONG_USAGE,
    CommandFault,
    add_config,
    load_settings,
    port_number,
)

if TYPE_CHECKING:
    from latchway.demo.play import Run
    from latchway.settings import Settings

EXAMPLE = "latchway serve --config latchway.yaml --port 8787 --workers 4"

WORKERS_MOST = 256
"""More than any machine has cores to give them; beyond, it is a slip of the hand."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Its own words; what they override is the configuration's."""
    add_config(parser)
    parser.add_argument("--host", help="address to listen on, instead of the configuration's")
    parser.add_argument("--port", type=port_number, help="port, instead of the configuration's")
    parser.add_argument(
        "--workers",
        type=_number_of_workers,
        default=1,
        metavar="N",
        help=f"processes that serve, 1 to {WORKERS_MOST}: one for each core",
    )
    parser.add_argument("--test", action="store_true", help="honour LATCHWAY_FAILPOINT")


def run(args: argparse.Namespace) -> int:
    """Serve; returns when the gateway was told to leave."""
    if args.test:
        _arm_failpoints()
    if args.config is None and not DEFAULT_CONFIG.is_file():
        return _serve_demo(args)
    return _runner(args)(_listening(load_settings(args.config), args), started=None)


def _runner(args: argparse.Namespace) -> Run:
    """One process that does all, or workers with a supervisor."""
    if args.workers == 1:
        from latchway.serve import process

        return process.run
    from latchway.workers import supervisor

    failpoint = os.environ.get(failpoints.VARIABLE, "") if args.test else ""
    return partial(supervisor.run, workers=args.workers, failpoint=failpoint)


def _number_of_workers(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= WORKERS_MOST):
        raise argparse.ArgumentTypeError(f"{text!r}: say a number from 1 to {WORKERS_MOST}")
    return int(text)


def _arm_failpoints() -> None:
    try:
        failpoints.arm(os.environ.get(failpoints.VARIABLE, ""))
    except failpoints.FailpointFault as fault:
        raise CommandFault(str(fault), WRONG_USAGE) from None


def _serve_demo(args: argparse.Namespace) -> int:
    from latchway.demo import play
    from latchway.demo.labs import ScriptedPair

    print(
        "no latchway.yaml in this folder: serving the demo configuration, two scripted upstreams;"
        " `latchway serve --config FILE` serves yours",
        file=sys.stderr,
    )
    return play.serve(ScriptedPair(), host=args.host, port=args.port, run=_runner(args))


def _listening(settings: Settings, args: argparse.Namespace) -> Settings:
    host = settings.host if args.host is None else args.host
    port = settings.port if args.port is None else args.port
    return replace(settings, host=host, port=port)
