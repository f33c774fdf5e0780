"""The short forms: each makes the events that a real upstream would send."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.lab.asked import Asked
from latchway.lab.events import Composer, words


def composed(*steps: tuple[str, Any]) -> list[dict[str, Any]]:
    composer = Composer(Asked("m", "one two"), "resp_own", 1_700_000_000)
    return [event for form, value in steps for event in composer.events(form, value)]


def test_a_whole_answer() -> None:
    events = composed(
        ("created", "resp_1"), ("in_progress", None), ("say", "Hi there"), ("completed", None)
    )
    assert [(event["sequence_number"], event["type"]) for event in events] == [
        (0, "response.created"),
        (1, "response.in_progress"),
        (2, "response.output_item.added"),
        (3, "response.content_part.added"),
        (4, "response.output_text.delta"),
        (5, "response.output_text.delta"),
        (6, "response.output_text.done"),
        (7, "response.content_part.done"),
        (8, "response.output_item.done"),
        (9, "response.completed"),
    ]
    assert {event["response"]["id"] for event in events if "response" in event} == {"resp_1"}
    assert events[6]["text"] == "Hi there"
    assert events[-1]["response"]["output"] == [events[8]["item"]]
    assert events[-1]["response"]["model"] == "m"


def test_usage_is_counted_in_words_or_said() -> None:
    counted, said, literal = composed(
        ("completed", None),
        ("completed", {"input": 10, "output": 5, "cached": 2, "cache_write": 1, "reasoning": 3}),
        ("completed", {"usage": {"input_tokens": "ten"}}),
    )
    assert counted["response"]["usage"]["input_tokens"] == 2
    assert said["response"]["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 15,
    }
    assert literal["response"]["usage"] == {"input_tokens": "ten"}


def test_text_without_an_item_is_in_the_result() -> None:
    *_, completed = composed(("text", "Hi"), ("text", " you"), ("completed", None))
    assert completed["response"]["output"][0]["content"][0]["text"] == "Hi you"
    assert completed["response"]["usage"]["output_tokens"] == 2


def test_incomplete_has_a_reason() -> None:
    usual, said = composed(("incomplete", None), ("incomplete", {"reason": "content_filter"}))
    assert usual["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert said["response"]["incomplete_details"] == {"reason": "content_filter"}
    assert usual["response"]["status"] == "incomplete"


def test_failed_is_metered_only_if_the_script_says_so() -> None:
    plain, metered = composed(("failed", {"code": "x"}), ("failed", {"code": "x", "output": 1}))
    assert plain["response"]["error"] == {"code": "x", "message": "Scripted by the lab."}
    assert plain["response"]["usage"] is None
    assert metered["response"]["usage"]["output_tokens"] == 1


@pytest.mark.parametrize(
    ("given", "event"),
    [
        (
            {"code": "x"},
            {
                "type": "error",
                "sequence_number": 0,
                "error": {
                    "type": "server_error",
                    "code": "x",
                    "message": "Scripted by the lab.",
                    "param": None,
                },
            },
        ),
        (
            {"code": "x", "message": "m", "flat": True, "retryable": True},
            {
                "type": "error",
                "sequence_number": 0,
                "code": "x",
                "message": "m",
                "param": None,
                "retryable": True,
            },
        ),
        (
            {"code": "x", "message": "m", "status": 503, "type": "t", "retry_after": 2},
            {
                "type": "error",
                "status": 503,
                "error": {
                    "type": "t",
                    "code": "x",
                    "message": "m",
                    "param": None,
                    "retry_after": 2,
                },
            },
        ),
    ],
)
def test_the_three_dresses_of_an_error(given: dict[str, Any], event: dict[str, Any]) -> None:
    assert composed(("error", given)) == [event]


def test_a_whole_event_is_as_written_and_counts() -> None:
    own, queued, beat = composed(("event", {"type": "x"}), ("queued", None), ("keepalive", None))
    assert own == {"type": "x"}
    assert (queued["sequence_number"], queued["response"]["status"]) == (1, "queued")
    assert beat == {"type": "keepalive", "sequence_number": 2}


@pytest.mark.parametrize("text", ["", " ", "one", " one  two\nthree ", "\u2028x"])
def test_words_are_the_text_again(text: str) -> None:
    assert "".join(words(text)) == text
