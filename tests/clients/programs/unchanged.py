"""Runs `the_loop.py` as it stands, once for each turn, and reads what it printed and raised."""

from __future__ import annotations

import json
import runpy
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from openai import OpenAIError
from seen import Job, Seen, work

LOOP = Path(__file__).with_name("the_loop.py")


def run(job: Job) -> Seen:
    """One turn."""
    request = job["request"]
    sys.argv[1:] = job["url"], job["key"], request["model"], request["input"]
    seen, raised = Seen(), None
    with redirect_stdout(StringIO()) as printed:
        try:
            runpy.run_path(str(LOOP))
        except OpenAIError as error:
            raised = error
    for line in printed.getvalue().splitlines():
        seen.event(json.loads(line))
    if raised is not None:
        seen.exception(raised)
    return seen


if __name__ == "__main__":
    work(run)
