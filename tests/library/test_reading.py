"""The core alone: what a turn knows of itself, and what its failure carries."""

from __future__ import annotations

from typing import Any

import pytest

from latchway_client import Calls, Failure, How, Reading, Result, State
from latchway_client.ends import Break
from latchway_client.limits import EXCERPT_CHARACTERS

STATELESS = {"store": False}
CREATED = {"type": "response.created", "response": {"id": "resp_1"}}
DELTA = {"type": "response.output_text.delta", "delta": "Half"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": "{}"}
ADDED = {"type": "response.output_item.added", "item": CALL}
CALLED = {"type": "response.output_item.done", "item": CALL}


def read(*events: dict[str, Any], calls: Calls | None = None) -> Reading:
    reading = Reading(STATELESS, calls)
    for event in events:
        reading.take(event)
    return reading


def failed(*events: dict[str, Any]) -> Failure:
    end = read(*events).end
    assert isinstance(end, Failure)
    return end


def broke(reading: Reading, how: How = How.BROKEN, **more: Any) -> Failure:
    return reading.broken(Break(how, "It broke.", **more))


def test_output_begins_with_the_first_output_and_not_before() -> None:
    assert not read(CREATED, {"type": "ping"}).saw_output
    assert read(CREATED, ADDED).saw_output
    assert read(CREATED, DELTA).saw_output


def test_a_failure_carries_what_had_come() -> None:
    failure = broke(read(CREATED, DELTA))
    assert (failure.text, failure.after_output) == ("Half", True)
    assert (failure.response_id, failure.message) == ("resp_1", "It broke.")


def test_a_failure_tells_what_the_server_may_have_kept() -> None:
    assert broke(Reading({})).state is State.STORED
    assert broke(Reading({"store": False, "conversation": "c"})).state is State.CONTINUED
    assert broke(Reading(STATELESS)).state is State.NONE


def test_request_ids_are_kept_in_order_and_once() -> None:
    reading = Reading(STATELESS)
    reading.answered({"x-request-id": "req_a"})
    reading.take({"type": "error", "request_id": "req_b", "error": {"request_id": "req_a"}})
    assert reading.request_ids == ("req_a", "req_b")
    assert isinstance(reading.end, Failure)
    assert reading.end.request_ids == ("req_a", "req_b")


def test_the_id_of_a_handshake_stands_for_a_turn_without_one() -> None:
    reading = Reading(STATELESS)
    reading.connected({"x-request-id": "req_socket"})
    assert reading.request_ids == ("req_socket",)
    assert broke(reading).request_ids == ("req_socket",)


@pytest.mark.parametrize(
    ("event", "own"),
    [
        (CREATED, ()),
        ({"type": "error", "request_id": "req_turn"}, ("req_turn",)),
        ({"type": "error", "headers": {"x-request-id": "req_turn"}}, ("req_turn",)),
    ],
)
def test_what_the_turn_tells_of_itself_replaces_it(
    event: dict[str, Any], own: tuple[str, ...]
) -> None:
    reading = Reading(STATELESS)
    reading.connected({"x-request-id": "req_socket"})
    reading.take(event)
    assert reading.request_ids == own


def test_a_result_has_them_too() -> None:
    reading = Reading(STATELESS)
    reading.answered({"x-request-id": "req_a"})
    end = reading.take({"type": "response.completed", "response": {"id": "resp_1"}})
    assert isinstance(end, Result)
    assert end.completed
    assert (end.request_ids, end.response_id) == (("req_a",), "resp_1")


def test_an_error_frame_may_carry_headers() -> None:
    error = {"code": "slow_down", "headers": {"Retry-After": "4"}}
    assert failed({"type": "error", "error": error}).retry_after == 4.0
    assert failed({"type": "error", "headers": {"retry-after": 5}}).retry_after == 5.0


def test_its_headers_have_a_request_id_and_the_servers_word() -> None:
    headers = {"X-Request-Id": "req_a", "x-should-retry": "false"}
    failure = failed({"type": "error", "code": "server_error", "headers": headers})
    assert (failure.request_ids, failure.retryable) == (("req_a",), False)


def test_each_level_of_a_failure_is_asked() -> None:
    nested = {"type": "error", "error": {"message": "Busy."}, "response": {"error": {"code": "x"}}}
    failure = failed({**nested, "code": "y", "retryable": False, "retry_after": 2})
    assert (failure.code, failure.message) == ("x", "Busy.")
    assert (failure.retryable, failure.retry_after) == (False, 2.0)


def test_an_error_may_be_a_string() -> None:
    assert failed({"type": "error", "error": "Busy."}).message == "Busy."


def test_a_lifecycle_event_that_holds_output_is_output() -> None:
    held = {"type": "response.in_progress", "response": {"output": [{"type": "message"}]}}
    assert read(CREATED, held).saw_output
    assert not read(CREATED, {**held, "response": {"output": []}}).saw_output


def test_a_failure_that_holds_output_shows_that_the_work_was_done() -> None:
    error = {"code": "server_error"}
    busy = {"type": "response.failed", "response": {"error": error, "output": []}}
    assert failed(busy).retryable is True
    worked = {"type": "response.failed", "response": {"error": error, "output": [CALL]}}
    assert failed(worked).retryable is False


def test_the_excerpt_is_the_start_of_the_event_or_body() -> None:
    assert failed({"type": "error", "code": "é"}).excerpt == '{"type": "error", "code": "é"}'
    long = "x" * (EXCERPT_CHARACTERS + 1)
    assert broke(Reading(STATELESS), body=long).excerpt == long[:EXCERPT_CHARACTERS]


def test_calls_are_noted_as_they_come() -> None:
    assert read(ADDED).calls.begun == ("call_1",)
    assert read(ADDED).calls.whole == ()
    assert [call.id for call in read(ADDED, CALLED).calls.whole] == ["call_1"]


def test_calls_that_only_the_result_has_are_noted() -> None:
    completed = {"type": "response.completed", "response": {"output": ["no item", CALL]}}
    assert [call.id for call in read(completed).calls.whole] == ["call_1"]


def test_a_partial_stream_tells_whether_a_call_was_acted_on() -> None:
    reading = read(CREATED, ADDED, CALLED)
    assert not broke(reading).acted_on
    reading.calls.hand_out()
    assert broke(reading).acted_on == {"call_1"}


def test_the_calls_of_an_earlier_request_count() -> None:
    calls = Calls()
    calls.mark("call_0")
    assert broke(read(CREATED, calls=calls)).acted_on == {"call_0"}


def test_what_was_never_sent_may_be_sent_again() -> None:
    assert broke(Reading(STATELESS), How.NOT_CONNECTED).retryable is True
    assert broke(Reading(STATELESS), How.BROKEN).retryable is None
    assert broke(Reading(STATELESS), How.TIMED_OUT).retryable is None


def test_the_servers_own_word_is_first() -> None:
    marked = {"code": "server_error", "retryable": False}
    assert failed({"type": "error", "error": marked}).retryable is False
    reading = Reading(STATELESS)
    assert broke(reading, headers={"x-should-retry": "true"}, status=400).retryable is True
    both = broke(reading, headers={"x-should-retry": "true"}, body='{"error":{"retryable":false}}')
    assert both.retryable is False
