"""Points at which a test can make the gateway raise, or die as by `kill -9`.

A crash at an awkward instant is the one fault that no scripted upstream can cause, and "every
reservation ends, also when the process is killed at any instant" (R6) is a claim that only such a
crash can test. `LATCHWAY_FAILPOINT=<name>:<raise|kill>[:nth]`, several separated by commas, arms
them; `serve --test` alone reads it, so that a variable left behind in an environment cannot hurt.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass

VARIABLE = "LATCHWAY_FAILPOINT"

NAMES: Mapping[str, str] = {
    "reserve": "before the reservation is asked of the ledger",
    "attempt_1": "the reservation is durable, the first upstream call is not made",
    "select_route_replay": "the rule said replay, the other route is not chosen",
    "attempt_2": "the replay is durable, the second upstream call is not made",
    "settle": "before a turn with a charge is closed in the ledger",
    "refund": "before a turn without a charge is closed in the ledger",
}

ACTIONS = ("raise", "kill")


class FailpointRaised(Exception):
    """What `hit` raises; the gateway treats it as it would any fault at that place."""

    def __init__(self, name: str) -> None:
        super().__init__(f"failpoint {name}")
        self.name = name


class FailpointFault(ValueError):
    """The variable is wrong; the message says what is known."""


@dataclass(slots=True)
class _Armed:
    action: str
    passes_left: int


_armed: dict[str, _Armed] = {}


def arm(text: str) -> None:
    """Arm what `text`, the variable's value, names, and disarm all else. Raises FailpointFault."""
    armed = dict(_parse(part) for part in text.split(",") if part.strip())
    _armed.clear()
    _armed.update(armed)


def hit(name: str) -> None:
    """Pass the point `name`: nothing, unless it is armed and this is its nth pass."""
    if _armed:
        _pass(name)


def _pass(name: str) -> None:
    point = _armed.get(name)
    if point is None:
        return
    point.passes_left -= 1
    if point.passes_left > 0:
        return
    del _armed[name]
    if point.action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise FailpointRaised(name)


def _parse(part: str) -> tuple[str, _Armed]:
    name, _, rest = part.strip().partition(":")
    action, _, nth = rest.partition(":")
    if name not in NAMES:
        raise FailpointFault(f"{VARIABLE}: no failpoint {name!r}; there are {', '.join(NAMES)}")
    if action not in ACTIONS:
        raise FailpointFault(f"{VARIABLE}: {part.strip()!r}: say {name}:raise or {name}:kill")
    return name, _Armed(action, _count(nth or "1", part.strip()))


def _count(text: str, part: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise FailpointFault(f"{VARIABLE}: {part!r}: the pass is counted from 1, not {text!r}")
    return int(text)
