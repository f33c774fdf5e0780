"""The one exception: what it says in a line, what it hands to the decision, that it travels."""

from __future__ import annotations

import pickle
from dataclasses import replace

from latchway_client import Failure, How, Limits, Reason, State, TurnFailed, decide

FAILURE = Failure(
    how=How.ERROR_EVENT,
    after_output=True,
    text="Half",
    code="server_error",
    message="Oh.",
    status=500,
    close_code=None,
    retryable=True,
    retry_after=2.0,
    request_ids=("req_a", "req_b"),
    response_id="resp_1",
    acted_on=frozenset({"call_1"}),
    state=State.STORED,
    excerpt="{}",
)


def test_it_says_all_in_a_line() -> None:
    assert str(TurnFailed(FAILURE)) == (
        "error_event, after output, code server_error, status 500, response resp_1, "
        "request req_a, request req_b: Oh."
    )


def test_it_says_nothing_of_what_is_not_known() -> None:
    bare = replace(
        FAILURE, code=None, status=None, response_id=None, request_ids=(), after_output=False
    )
    assert str(TurnFailed(bare)) == "error_event, before output: Oh."


def test_its_own_attributes_are_those_of_the_failure() -> None:
    failed = TurnFailed(FAILURE)
    own = {name: value for name, value in vars(failed).items() if name != "failure"}
    assert own == {name: getattr(FAILURE, name) for name in own}
    assert {"after_output", "text", "code", "retryable", "retry_after", "request_ids"} <= set(own)


def test_it_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(TurnFailed(FAILURE))).failure == FAILURE


def test_no_text_of_a_turn_stands_in_its_representation() -> None:
    assert "Half" not in repr(FAILURE)
    assert "Oh." not in repr(FAILURE)


def test_it_hands_its_facts_to_the_decision() -> None:
    limits = Limits(resends=3)
    situation = FAILURE.situation(limits, 2)
    assert (situation.saw_output, situation.acted_on) == (True, True)
    assert (situation.state, situation.retryable, situation.retry_after) == (
        State.STORED,
        True,
        2.0,
    )
    assert (situation.limits, situation.resent) == (limits, 2)


def test_a_caller_that_looked_for_state_may_say_so() -> None:
    early = replace(FAILURE, after_output=False, acted_on=frozenset())
    once = Limits(resends=1)
    assert decide(early.situation(once)).reason is Reason.STORED
    assert decide(early.situation(once, state_checked=True)).allowed
