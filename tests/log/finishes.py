"""Turns that have ended, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from latchway.turn.commands import AttemptRecord, Delivered, Finish
from latchway.turn.events import Binding
from latchway.wire.frame import Usage


def attempt(number: int, route: str, **differs: Any) -> AttemptRecord:
    """A completed attempt that began at the turn's second 100."""
    values: dict[str, Any] = {
        "number": number,
        "route": route,
        "outcome": "completed",
        "failure": None,
        "rule": None,
        "own_rule": None,
        "code": None,
        "verdict": None,
        "http_status": 200,
        "upstream_request_id": None,
        "response_id": None,
        "began": 100.0,
        "first_event": None,
        "ended": 101.0,
        "usage": None,
        "usage_absurd": False,
        "reason": None,
        "output_bytes": 0,
    }
    return AttemptRecord(**{**values, **differs})


FAILED = attempt(
    1,
    "primary/m",
    outcome="failed",
    failure="retryable_event",
    rule="R2.1",
    code="server_is_overloaded",
    verdict="replay",
    response_id="resp_1",
    upstream_request_id="up_1",
    began=100.001,
    first_event=100.036,
    ended=100.302,
)
SERVED = attempt(
    2,
    "backup/m",
    response_id="resp_2",
    upstream_request_id="up_2",
    began=100.302,
    first_event=100.342,
    ended=102.209,
    usage=Usage(input_tokens=10, output_tokens=5),
)


def finish(*attempts: AttemptRecord, **differs: Any) -> Finish:
    """A turn that began at its clock's second 100 and was completed."""
    values: dict[str, Any] = {
        "outcome": "completed",
        "code": None,
        "binding": Binding.STATELESS,
        "delivered": Delivered.OUTPUT,
        "replayed": len(attempts) == 2,
        "response_id": "resp_2",
        "attempts": attempts,
        "began": 100.0,
        "first_output": 100.412,
        "ended": 102.21,
        "phase": None,
        "held_seconds": 0.0,
        "released_by_timer": False,
    }
    return Finish(**{**values, **differs})


REPLAYED = finish(FAILED, SERVED)
