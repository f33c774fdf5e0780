"""Run the gateway until SIGTERM or Ctrl-C; it then ends the turns in flight and leaves.

Without --config: latchway.yaml in this folder, else the demo configuration.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
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
    from latchway.settings import Settings

EXAMPLE = "latchway serve --config latchway.yaml --port 8787"


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--host", help="address to listen on, instead of the configuration's")
    parser.add_argument("--port", type=port_number, help="port, instead of the configuration's")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="1, for now")
    parser.add_argument("--test", action="store_true", help="honour LATCHWAY_FAILPOINT")


def run(args: argparse.Namespace) -> int:
    """Serve; returns when the gateway was told to leave."""
    _refuse_workers(args.workers)
    if args.test:
        _arm_failpoints()
    if args.config is None and not DEFAULT_CONFIG.is_file():
        return _serve_demo(args)
    from latchway.serve import process

    return process.run(_listening(load_settings(args.config), args))


def _refuse_workers(workers: int) -> None:
    if workers < 1:
        raise CommandFault(f"--workers {workers}: say 1", WRONG_USAGE)
    if workers > 1:
        raise CommandFault(
            f"--workers {workers}: several workers are not built yet, because one process owns the"
            " database; say 1, or run a second gateway with a database of its own",
            WRONG_USAGE,
        )


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
    return play.serve(ScriptedPair(), host=args.host, port=args.port)


def _listening(settings: Settings, args: argparse.Namespace) -> Settings:
    host = settings.host if args.host is None else args.host
    port = settings.port if args.port is None else args.port
    return replace(settings, host=host, port=port)
