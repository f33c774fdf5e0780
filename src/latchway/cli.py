"""The command `latchway`: which words there are, and what an exit code means.

Exit codes are part of the interface: 0 done, 1 failed, 2 used wrongly. Standard output carries
what was asked for, JSON with `--json`; everything else goes to standard error.

Only the module of the command that was named is imported: a command that makes a key must not
pay for an event loop, and it is typed by hand in loops of shell scripts.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from latchway import __version__
from latchway.commands.common import CommandFault

COMMANDS: Mapping[str, str] = {
    "serve": "run the gateway",
    "demo": "two scripted upstreams, the first fails: watch one replayed turn",
    "check": "validate a configuration: every fault with its line and its mend",
    "keys": "client keys and their prepaid balance",
    "requests": "the request log",
    "explain": "what would be done with a request: binding, routes, replay, reservation",
    "watch": "send a turn to any Responses URL, and see every event as it comes",
    "ledger": "ledger entries and balances, and their verification",
    "lab": "a scriptable faulty upstream, to test a client against",
    "failpoints": "points at which a test can make the gateway raise or die",
}

DONE = 0
FAILED = 1
READER_LEFT = 141
"""As a shell reports a program that wrote to a closed pipe (128 + SIGPIPE)."""
INTERRUPTED = 130

NOT_TAKEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What only writing meets: standard output leads to a full disk, or another file is on one."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (the process's own words if None); returns the exit code.

    argparse raises SystemExit, with 0 after `--help` and 2 after wrong usage.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    _open_what_is_closed()
    try:
        try:
            status = _run(words)
        except SystemExit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return status
    except CommandFault as fault:
        print(f"latchway: {fault}", file=sys.stderr)
        return fault.status
    except BrokenPipeError:
        return READER_LEFT
    except OSError as fault:
        if fault.errno not in NOT_TAKEN:
            raise
        with suppress(OSError):
            print(f"latchway: not all of it could be written: {fault.strerror}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _forget_what_nobody_hears()


def _run(words: list[str]) -> int:
    outer = _outer_parser()
    name = outer.parse_args(words[:1]).command
    module = importlib.import_module(f"latchway.commands.{name}")
    parser = argparse.ArgumentParser(
        prog=f"latchway {name}",
        description=module.__doc__,
        epilog=f"example: {module.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    status: int = module.run(parser.parse_args(words[1:]))
    return status


def _outer_parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<12}{meaning}" for name, meaning in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="latchway",
        usage="latchway COMMAND [--config FILE] …",
        description="A gateway for LLM streams.",
        epilog=f"commands:\n{listing}\n\nexample: latchway serve --config latchway.yaml\n"
        "`latchway COMMAND --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"latchway {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="see below")
    return parser


def _open_what_is_closed() -> None:
    """A process that was started without one of its standard files (`2>&-`) would give its number
    to a socket, where whatever a library prints would go, and libuv aborts as it closes such a one.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free: its own
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _forget_what_nobody_hears() -> None:
    """What standard error did not take is no failure of the command; of standard output, it has
    been told."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _forget(stream)


def _forget(stream: TextIO) -> None:
    """Point it elsewhere: the interpreter tries once more as it exits, and its status would be 120
    if what is left in the buffer were refused again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
