"""What an event means, and that nothing which a server sends makes the reading raise."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchway.wire.frame import Kind
from latchway.wire.meaning import KINDS
from latchway_client import Class, Failure, Reading, Result, class_of
from latchway_client.events import CLASSES, ENDS, is_metered, read, written

EVENTS: list[tuple[dict[str, Any], Class]] = [
    ({"type": "response.created"}, Class.LIFECYCLE),
    ({"type": "keepalive"}, Class.NEUTRAL),
    ({"type": "response.output_item.added"}, Class.OUTPUT),
    ({"type": "response.telepathy"}, Class.OUTPUT),
    ({"type": ""}, Class.OUTPUT),
    ({"type": None}, Class.OUTPUT),
    ({"type": ["error"]}, Class.OUTPUT),
    ({}, Class.OUTPUT),
    ({"error": {}}, Class.OUTPUT),
    ({"error": {"code": "x"}}, Class.FAILURE),
    ({"type": "response.output_text.delta", "error": {"code": "x"}}, Class.OUTPUT),
    ({"type": "error"}, Class.FAILURE),
    ({"type": "response.completed"}, Class.RESULT),
    ({"type": "response.completed", "response": {"status": "failed"}}, Class.FAILURE),
    ({"type": "response.incomplete"}, Class.RESULT),
]


@pytest.mark.parametrize(("event", "kind"), EVENTS)
def test_the_class_of_an_event(event: dict[str, Any], kind: Class) -> None:
    assert class_of(event) is kind


SAME = {
    Kind.LIFECYCLE: Class.LIFECYCLE,
    Kind.NEUTRAL: Class.NEUTRAL,
    Kind.COMPLETED: Class.RESULT,
    Kind.INCOMPLETE: Class.RESULT,
    Kind.FAILED: Class.FAILURE,
    Kind.ERROR: Class.FAILURE,
}


def test_the_gateway_and_the_client_mean_the_same() -> None:
    assert {name: SAME[kind] for name, kind in KINDS.items()} == CLASSES


NAMED: list[tuple[bytes, str, dict[str, Any]]] = [
    (b"{}", "error", {"type": "error"}),
    (b'{"type": null}', "response.completed", {"type": "response.completed"}),
    (b'{"type": "ping"}', "response.completed", {"type": "ping"}),
    (b'{"type": "server_error"}', "error", {"type": "error"}),
    (b'{"type": "response.failed"}', "error", {"type": "response.failed"}),
    (b'{"error": {"code": "x"}}', "error", {"type": "error", "error": {"code": "x"}}),
]


@pytest.mark.parametrize(("data", "name", "event"), NAMED)
def test_the_json_has_the_type_unless_only_the_line_beside_it_tells_of_a_failure(
    data: bytes, name: str, event: dict[str, Any]
) -> None:
    assert read(data, name) == event


METERED: list[tuple[dict[str, Any], bool]] = [
    ({}, False),
    ({"response": {"usage": None}}, False),
    ({"response": {"usage": {"input_tokens": 0}}}, False),
    ({"response": {"usage": {"input_tokens": 1}}}, True),
    ({"usage": {"output_tokens": 1}}, True),
    ({"usage": {"output_tokens": 10**400}}, True),
    ({"usage": {"output_tokens": -1, "x": True, "y": "1"}}, False),
]


@pytest.mark.parametrize(("event", "metered"), METERED)
def test_usage_that_is_not_zero_was_metered(event: dict[str, Any], metered: bool) -> None:
    assert is_metered(event) is metered


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
NAMES = st.sampled_from(
    ["type", "response", "error", "item", "delta", "usage", "headers", "status", "retry_after",
     "request_id", "id", "output", "incomplete_details"]
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(st.dictionaries(NAMES, JSON | st.sampled_from(sorted(CLASSES))), max_size=3))
def test_the_class_alone_says_whether_an_event_ends_the_turn(events: list[dict[str, Any]]) -> None:
    reading, classes = Reading({}), [class_of(event) for event in events]
    for number, event in enumerate(events, start=1):
        end = reading.take(event)
        assert (end is None) == ENDS.isdisjoint(classes[:number])
        if classes[number - 1] in ENDS:
            assert isinstance(end, Result) == (classes[number - 1] is Class.RESULT)
    assert reading.saw_output or Class.OUTPUT not in classes


ABSURD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "error", "retry_after": 10**400}, {"retry_after": None, "retryable": None}),
    ({"type": "error", "status": 10**400}, {"status": None, "retryable": None}),
    (
        {"type": "response.failed", "response": {"usage": {"input_tokens": 10**400}}},
        {"retryable": False},
    ),
]


@pytest.mark.parametrize(("event", "known"), ABSURD)
def test_an_absurd_value_is_unknown_or_speaks_against_a_resend(
    event: dict[str, Any], known: dict[str, Any]
) -> None:
    end = Reading({}).take(event)
    assert isinstance(end, Failure)
    assert {name: getattr(end, name) for name in known} == known


def test_output_that_is_no_list_is_none_of_a_result_and_seen_all_the_same() -> None:
    reading = Reading({})
    assert reading.take({"type": "response.in_progress", "response": {"output": 5}}) is None
    assert reading.saw_output
    end = reading.take({"type": "response.completed", "response": {"output": 5}})
    assert isinstance(end, Result)
    assert (end.status, end.text) == ("completed", "")


def test_an_event_that_is_too_deep_to_be_written_has_its_type_alone() -> None:
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    assert written({"type": "error", "x": deep}) == "error"


def test_json_that_is_too_deep_is_text() -> None:
    deep = "[" * 200_000
    assert read(deep) == {"type": "", "data": deep}
