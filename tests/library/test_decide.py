"""The decision as a table: each reason with what makes it true, and beside it what does not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from latchway_client import Limits, Reason, Situation, State, decide
from latchway_client.decide import SENTENCE

TWICE = Limits(resends=2, longest_wait=30.0, first_wait=1.0)

NEVER = replace(TWICE, resends=0)

FREE = Situation(
    saw_output=False,
    acted_on=False,
    state=State.NONE,
    retryable=True,
    retry_after=None,
    limits=TWICE,
    resent=0,
)
"""Nothing speaks against a new request."""

ROWS: list[tuple[Reason, dict[str, Any], dict[str, Any]]] = [
    (Reason.OUTPUT_SEEN, {"saw_output": True}, {"saw_output": False}),
    (Reason.CALL_ACTED_ON, {"acted_on": True}, {"acted_on": False}),
    (Reason.STORED, {"state": State.STORED}, {"state": State.NONE}),
    (Reason.CONTINUED, {"state": State.CONTINUED}, {"state": State.NONE}),
    (Reason.NOT_RETRYABLE, {"retryable": False}, {"retryable": True}),
    (Reason.RETRYABLE_UNKNOWN, {"retryable": None}, {"retryable": True}),
    (Reason.WAIT_TOO_LONG, {"retry_after": 30.1}, {"retry_after": 30.0}),
    (Reason.LIMIT_REACHED, {"resent": 2}, {"resent": 1}),
    (Reason.LIMIT_REACHED, {"limits": NEVER}, {"limits": TWICE}),
]
"""In their rank: the reason, facts that make it true, and the nearest that do not."""


@pytest.mark.parametrize(("reason", "true", "false"), ROWS)
def test_a_reason_on_both_sides(
    reason: Reason, true: dict[str, Any], false: dict[str, Any]
) -> None:
    assert decide(replace(FREE, **true)).reason is reason
    assert not decide(replace(FREE, **true)).allowed
    assert decide(replace(FREE, **false)).allowed


def test_the_first_that_holds_names_the_reason() -> None:
    """Of any two rows, the higher one, whatever the lower one says."""
    for (number, upper), (below, lower) in product(enumerate(ROWS), repeat=2):
        if below > number and not set(upper[1]) & set(lower[1]):
            situation = replace(FREE, **{**lower[1], **upper[1]})
            assert decide(situation).reason is upper[0], (upper, lower)


WAITS: list[tuple[dict[str, Any], float]] = [
    ({"resent": 0}, 1.0),
    ({"resent": 1}, 2.0),
    ({"retry_after": 7.0}, 7.0),
    ({"retry_after": 0.0}, 0.0),
    ({"resent": 1, "retry_after": 7.0}, 7.0),
    ({"resent": 9, "limits": Limits(resends=99, longest_wait=30.0)}, 30.0),
]


@pytest.mark.parametrize(("facts", "seconds"), WAITS)
def test_an_allowed_request_waits(facts: dict[str, Any], seconds: float) -> None:
    decision = decide(replace(FREE, **facts))
    assert decision.allowed
    assert decision.wait == seconds


def test_a_refused_request_waits_for_nothing() -> None:
    assert decide(replace(FREE, saw_output=True, retry_after=7.0)).wait == 0.0


def test_every_reason_has_its_row_and_its_sentence() -> None:
    assert {reason for reason, _, _ in ROWS} | {Reason.ALLOWED} == set(Reason)
    assert set(SENTENCE) == set(Reason)
    assert len({decide(FREE).sentence, *SENTENCE.values()}) == len(Reason)


def test_without_limits_of_its_own_a_caller_never_sends_again() -> None:
    assert decide(replace(FREE, limits=Limits())).reason is Reason.LIMIT_REACHED
