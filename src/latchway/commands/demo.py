"""The gateway with two upstreams of its own, the first of which fails before output.

It shows one turn that is replayed, then stays up and prints lines to try it with. With --llama
the upstreams are two real llama.cpp servers with a small model; the first is killed at work.
"""

from __future__ import annotations

import argparse
import sys

from latchway.commands.common import CommandFault, add_config

EXAMPLE = "latchway demo --once"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="leave after the shown turn")
    parser.add_argument("--llama", action="store_true", help="two real llama.cpp servers")
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Play the demonstration; 1 if its turn was not replayed to a clean end."""
    if args.config is not None:
        print("latchway: the demo has its own configuration; --config is not used", file=sys.stderr)
    from latchway.demo import play

    if args.llama:
        from latchway.demo.llama import LlamaPair, Missing

        try:
            return play.demonstrate(LlamaPair(), once=args.once)
        except Missing as missing:
            raise CommandFault(str(missing)) from None
    from latchway.demo.labs import ScriptedPair

    return play.demonstrate(ScriptedPair(), once=args.once)
