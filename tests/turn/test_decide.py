"""The rule, both sides of every line, and against a second statement of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from latchway.turn import failures
from latchway.turn.commands import Delivered
from latchway.turn.decide import RULE_OF, SENTENCE, Situation, Verdict, decide, rule_of
from latchway.turn.events import Binding
from latchway.turn.failures import Failure
from latchway.values import replace

REPLAYABLE = Situation(
    client_here=True,
    delivered=Delivered.NOTHING,
    binding=Binding.STATELESS,
    kindred=False,
    attempt=1,
    observed=False,
    failure=failures.READ_ERROR_BEFORE_FIRST,
    acting_tools=False,
    replay_room=True,
    another_route=True,
)

FAILURES = sorted(
    {row for row in vars(failures).values() if isinstance(row, Failure)}, key=lambda row: row.rule
)

ONE_FACT: list[tuple[str, dict[str, Any], Verdict]] = [
    ("the client left", {"client_here": False}, Verdict.CLIENT_GONE),
    ("output delivered", {"delivered": Delivered.OUTPUT}, Verdict.OUTPUT_DELIVERED),
    ("lifecycle delivered", {"delivered": Delivered.LIFECYCLE}, Verdict.LIFECYCLE_DELIVERED),
    ("stored", {"binding": Binding.STORED}, Verdict.STORED),
    ("a continuation", {"binding": Binding.CONTINUATION}, Verdict.CONTINUATION),
    ("bound to its origin", {"binding": Binding.ORIGIN_BOUND}, Verdict.ORIGIN_BOUND),
    ("the second attempt", {"attempt": 2}, Verdict.ALREADY_REPLAYED),
    ("observed", {"observed": True}, Verdict.USAGE_SEEN),
    ("a final failure", {"failure": failures.FIRST_EVENT_TIMEOUT}, Verdict.FAILURE_FINAL),
    ("a tool that acts", {"acting_tools": True}, Verdict.ACTING_TOOLS),
    ("no room", {"replay_room": False}, Verdict.BUDGET_SPENT),
    ("no other route", {"another_route": False}, Verdict.NO_ROUTE),
]
"""In the order of their rank."""


def test_without_any_of_them_it_is_replayed() -> None:
    assert decide(REPLAYABLE) is Verdict.REPLAY


@pytest.mark.parametrize(("facts", "verdict"), [it[1:] for it in ONE_FACT], ids=lambda it: str(it))
def test_each_fact_alone_refuses(facts: dict[str, Any], verdict: Verdict) -> None:
    assert decide(replace(REPLAYABLE, **facts)) is verdict


@pytest.mark.parametrize("rank", range(1, len(ONE_FACT)), ids=lambda rank: ONE_FACT[rank][0])
def test_the_earlier_fact_names_the_verdict(rank: int) -> None:
    """Two facts at once, neighbours in rank; where both say one field, the earlier is said."""
    (_, earlier, verdict), (_, later, _) = ONE_FACT[rank - 1], ONE_FACT[rank]
    assert decide(replace(REPLAYABLE, **{**later, **earlier})) is verdict


@pytest.mark.parametrize("binding", [Binding.STORED, Binding.CONTINUATION])
def test_kindred_frees_nothing_but_the_origin_bound(binding: Binding) -> None:
    freed = replace(REPLAYABLE, binding=Binding.ORIGIN_BOUND, kindred=True)
    assert decide(freed) is Verdict.REPLAY
    assert decide(replace(freed, binding=binding)).value == binding.value


def test_a_tool_that_acts_refuses_a_read_error_alone() -> None:
    event = replace(REPLAYABLE, acting_tools=True, failure=failures.RETRYABLE_EVENT)
    assert decide(event) is Verdict.REPLAY


def every_situation() -> list[Situation]:
    yes_no = (False, True)
    return [
        Situation(*facts)
        for facts in product(
            yes_no, Delivered, Binding, yes_no, (1, 2), yes_no, FAILURES, yes_no, yes_no, yes_no
        )
    ]


def may_be_replayed(s: Situation) -> bool:
    """R1.1 to R1.7, R2.2's clause on tools and R10, each on its own; no order, no names."""
    bound_by_encrypted_items_only = s.binding is Binding.ORIGIN_BOUND and s.kindred
    conditions = {
        "R1.1": s.binding is Binding.STATELESS or bound_by_encrypted_items_only,
        "R1.2": s.delivered.value == 0,
        "R1.3": not s.observed,
        "R1.4": s.failure.rule in ("R2.1", "R2.2"),
        "R1.5": s.attempt == 1,
        "R1.6": s.client_here,
        "R1.7": s.another_route,
        "R2.2": not (s.acting_tools and s.failure.name == "read_error"),
        "R10": s.replay_room,
    }
    return all(conditions.values())


REASONS: dict[str, Any] = {
    "client_gone": lambda s: not s.client_here,
    "output_delivered": lambda s: s.delivered is Delivered.OUTPUT,
    "lifecycle_delivered": lambda s: s.delivered is Delivered.LIFECYCLE,
    "stored": lambda s: s.binding is Binding.STORED,
    "continuation": lambda s: s.binding is Binding.CONTINUATION,
    "origin_bound": lambda s: s.binding is Binding.ORIGIN_BOUND and not s.kindred,
    "already_replayed": lambda s: s.attempt == 2,
    "usage_seen": lambda s: s.observed,
    "failure_final": lambda s: s.failure.rule not in ("R2.1", "R2.2"),
    "acting_tools": lambda s: s.acting_tools and s.failure.rule == "R2.2",
    "budget_spent": lambda s: not s.replay_room,
    "no_route": lambda s: not s.another_route,
    "replay": lambda s: True,
}
"""The table of verdicts, line by line: the first that is true."""


def test_the_rule_is_the_same_in_every_situation() -> None:
    situations = every_situation()
    assert len(situations) > 10_000
    for situation in situations:
        verdict = decide(situation)
        assert (verdict is Verdict.REPLAY) == may_be_replayed(situation), situation
        first = next(name for name, holds in REASONS.items() if holds(situation))
        assert verdict.value == first, situation


def test_every_verdict_has_its_sentence_and_they_rank_alike() -> None:
    assert list(SENTENCE) == list(Verdict)
    assert [verdict.value for verdict in Verdict] == list(REASONS)
    assert len(set(SENTENCE.values())) == len(Verdict)


def test_a_verdict_stands_for_a_row_of_the_rule_or_for_the_failures_own() -> None:
    own = set(Verdict) - set(RULE_OF)
    assert own == {Verdict.FAILURE_FINAL, Verdict.REPLAY}
    assert {rule_of(verdict, failures.IDLE_TIMEOUT) for verdict in own} == {"R2.15"}
    assert rule_of(Verdict.NO_ROUTE, failures.RETRYABLE_EVENT) == "R2.11"
