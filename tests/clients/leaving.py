"""R2.8: clients leave in mid-turn by the hundred, and every turn is settled all the same."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from clients import environments
from clients.checking import verdicts
from clients.gateway import Gateway
from clients.outcome import COMPLETED, Outcome
from clients.stage import set_up
from clients.way import FIRST_ANSWER, START, TEXT, Way, events

TURNS = 200
AT_MOST_SECONDS = 60.0
NOTICE_SECONDS = 5.0
"""A client that left is noticed within one; a busy machine, asked over HTTP, may be slow."""
LOOK_SECONDS = 0.02

UNUSED = Outcome(COMPLETED, ())
"""These ways are not in the table."""

WAITS = Way("waits", "R2.8", events(*START, "silence"), UNUSED)
TALKS = Way("talks", "R2.8", events(*TEXT, "silence"), UNUSED)
ANSWERS = Way("answers", "R2.8", FIRST_ANSWER, UNUSED)

LEFT = {
    "hold": (WAITS, "client_disconnected", ("R2.8 client_gone",), "none"),
    "output": (TALKS, "client_disconnected", ("R2.8 client_gone",), "estimated"),
    "completed": (ANSWERS, "completed", (), "upstream"),
}
"""Where a client leaves: the way, then outcome, verdicts and source of the usage in its record."""


def leave(folder: Path, environment: str, where: str, turns: int = TURNS) -> list[str]:
    """Break off so many turns there; what is not as R2 says. Raises Unavailable."""
    way, *_ = LEFT[where]
    program = (environments.python(environment), str(environments.PROGRAMS / "leaver.py"))
    with set_up((way,), folder) as stage:
        gateway = stage.gateway(way, "")
        words = (gateway.url, gateway.key("leaver"), way.name, where, str(turns))
        done = subprocess.run(
            (*program, *words), capture_output=True, text=True, timeout=AT_MOST_SECONDS
        )
        assert done.returncode == 0, done.stderr
        wait_until(lambda: gateway.metric("latchway_open_turns") == 0, NOTICE_SECONDS)
        calls = stage.labs.calls("")
        gateway.stop()
        facts = {"left there": int(done.stdout), "called": len(calls[0]), "again": len(calls[1])}
        return [*_counted(facts, turns), *_settled(gateway, where, turns)]


def wait_until(true: Callable[[], bool], seconds: float) -> None:
    """Ask again and again. Raises AssertionError when it takes longer."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"it did not come to be within {seconds} s"
        threading.Event().wait(LOOK_SECONDS)


def _counted(facts: dict[str, int], turns: int) -> Iterator[str]:
    expected = {"left there": turns, "called": turns, "again": 0}
    yield from (f"{n}: {was}, not {expected[n]}" for n, was in facts.items() if was != expected[n])


def _settled(gateway: Gateway, where: str, turns: int) -> Iterator[str]:
    _, *expected = LEFT[where]
    records = gateway.records()
    if len(records) != turns:
        yield f"{len(records)} turns in the log, not {turns}"
    for record in records:
        billing = record["billing"]
        was = [record["outcome"], verdicts(record), billing["usage_source"]]
        if was != expected:
            yield f"{record['request_id']}: {was}, not {expected}"
        charged = float(billing["charged"]) > 0
        if charged != (billing["usage_source"] != "none"):
            yield f"{record['request_id']}: charged {billing['charged']}"
    if any(float(account["reserved"]) for account in gateway.accounts()):
        yield "something is still reserved"
    gateway.verify()
