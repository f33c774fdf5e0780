"""A scriptable faulty upstream, to test a client (or a gateway) against.

SCRIPT is a file, or the name of a script that is shipped with it, such as `healthy`.
The address is printed to standard error, and a line for each call that comes.
"""

from __future__ import annotations

import argparse

from latchway.commands.common import add_config, port_number

EXAMPLE = "latchway lab healthy --port 9001"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT", help="a YAML or JSON file, or a shipped name")
    parser.add_argument("--port", type=port_number, help="default: 9001; 0: any free one")
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    from latchway.lab import server

    return server.run(args.script, server.DEFAULT_PORT if args.port is None else args.port)
