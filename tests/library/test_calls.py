"""Tool calls: each is handed out once, and what was handed out or marked was acted on."""

from __future__ import annotations

from typing import Any

from latchway_client import Calls

WEATHER = {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"a":1}'}
SHELL = {"type": "custom_tool_call", "call_id": "call_2", "name": "shell", "input": "ls"}


def calls_of(*items: dict[str, Any]) -> Calls:
    calls = Calls()
    for item in items:
        calls.finish(item)
    return calls


def test_a_call_that_is_not_whole_is_not_handed_out() -> None:
    calls = Calls()
    calls.begin(WEATHER)
    assert calls.begun == ("call_1",)
    assert calls.hand_out() == ()
    assert not calls.acted_on


def test_a_call_that_was_cut_off_is_not_handed_out() -> None:
    calls = calls_of({**WEATHER, "arguments": '{"a', "status": "incomplete"})
    assert calls.begun == ("call_1",)
    assert calls.hand_out() == ()


def test_a_call_is_handed_out_once_and_acted_on_from_there() -> None:
    calls = calls_of(WEATHER)
    (call,) = calls.hand_out()
    assert (call.id, call.name, call.arguments) == ("call_1", "weather", '{"a":1}')
    assert calls.hand_out() == ()
    assert calls.acted_on == {"call_1"}


def test_the_same_call_again_is_the_same_call() -> None:
    calls = calls_of(WEATHER)
    calls.hand_out()
    calls.finish(WEATHER)
    calls.finish(SHELL)
    assert [call.id for call in calls.hand_out()] == ["call_2"]


def test_looking_marks_nothing() -> None:
    calls = calls_of(WEATHER, SHELL)
    assert [call.arguments for call in calls.whole] == ['{"a":1}', "ls"]
    assert not calls.acted_on


def test_a_marked_call_is_acted_on_and_not_handed_out() -> None:
    calls = calls_of(WEATHER)
    calls.mark("call_1")
    calls.mark("call_unseen")
    assert calls.hand_out() == ()
    assert calls.acted_on == {"call_1", "call_unseen"}


def test_what_the_provider_does_itself_is_no_call() -> None:
    hosted = {"type": "web_search_call", "id": "ws_1"}
    answer = {"type": "function_call_output", "call_id": "call_1"}
    nameless = {"type": "function_call", "call_id": None}
    assert calls_of(hosted, answer, nameless, {"type": "message"}, {}).begun == ()
