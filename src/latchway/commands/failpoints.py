"""Names of the points at which a test can make the gateway raise or die.

Armed by the variable LATCHWAY_FAILPOINT=<name>:<raise|kill>[:nth], which only `serve --test`
reads. `nth` counts passes of the point from 1; several are separated by commas.
"""

from __future__ import annotations

import argparse

from latchway import failpoints
from latchway.commands.common import add_config, add_json, print_json, print_table

EXAMPLE = "latchway failpoints --json"


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table of names."""
    rows = [{"name": name, "when": when} for name, when in failpoints.NAMES.items()]
    if args.json:
        print_json(rows)
    else:
        print_table(("name", "when"), rows)
    return 0
