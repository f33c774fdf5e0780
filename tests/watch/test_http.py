"""Over HTTP every way of ending is named, a quiet one as the failure that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.harness import running
from latchway.lab.checked import load
from latchway.lab.script import Raw, Wait
from watch.watching import played, recorded, watched

BUSY = {"error": {"code": "server_is_overloaded", "message": "Busy."}}
RESPONSE = {"id": "resp_1", "object": "response", "status": "completed", "output": []}
ROUNDING = 0.005
"""Seconds: a wait is written in whole milliseconds, and there are five at most."""
DONE = {"completed": {"input": 3, "output": 2}}

ENDS: list[tuple[dict[str, Any], str, str | None, str | None, str | None]] = [
    # the reply; outcome, failure, its rule, verdict
    ({"events": ["created", {"text": "Hi"}, DONE]}, "completed", None, None, None),
    ({"events": ["created", "incomplete"]}, "incomplete", None, None, None),
    ({"body": RESPONSE}, "completed", None, None, None),
    ({"events": ["created", {"failed": "slow_down"}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"error": "server_error"}, {"failed": "server_error"}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"failed": "invalid_prompt"}]},
     "failed", "deterministic", "R2.9", "failure_final"),
    ({"events": ["created", {"text": "Half"}]},
     "failed", "read_error", "R2.12", "output_delivered"),
    ({"events": ["created", {"text": "Half"}, "done"]},
     "failed", "read_error", "R2.12", "output_delivered"),
    ({"events": ["created", {"end": "cut"}]}, "failed", "read_error", "R2.12", "failure_final"),
    ({"events": ["created", "reset"]}, "failed", "read_error", "R2.12", "failure_final"),
    ({"events": []}, "failed", "read_error", "R2.2", "replay"),
    ({"no_head": True, "events": ["reset"]}, "failed", "read_error", "R2.2", "replay"),
    ({"body": "<html>", "headers": {"content-type": "text/html"}},
     "failed", "read_error", "R2.2", "replay"),
    ({"body": BUSY}, "failed", "retryable_event", "R2.1", "replay"),
    ({"status": 503, "body": BUSY}, "failed", "retryable_event", "R2.1", "replay"),
    ({"status": 401}, "failed", "route_refused", "R2.1", "replay"),
    ({"status": 400, "body": {"error": {"code": "invalid_prompt"}}},
     "failed", "deterministic", "R2.9", "failure_final"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "outcome", "failure", "rule", "verdict"), ENDS)
def test_an_end_is_named(
    reply: dict[str, Any],
    outcome: str,
    failure: str | None,
    rule: str | None,
    verdict: str | None,
) -> None:
    found = played([reply])

    end = found.end
    assert (end["outcome"], end["failure"]) == (outcome, failure)
    assert (end["rule"], end["verdict"]) == (rule, verdict)
    assert found.status == (1 if failure else 0)


def test_every_event_is_told_as_it_came() -> None:
    found = played([{"events": ["created", "keepalive", {"text": "Hi"}, DONE]}])

    assert found.types == [
        "response.created", "keepalive", "response.output_text.delta", "response.completed",
    ]  # fmt: skip
    assert found.fates == ["held", "held", "passed", "passed"]
    assert [each["class"] for each in found.events] == [
        "lifecycle",
        "neutral",
        "output",
        "terminal",
    ]
    assert found.end["events"]["keepalive"] == 1
    assert found.end["usage"]["output_tokens"] == 2
    assert found.end["bytes"] == sum(each["bytes"] for each in found.events)


def test_what_comes_behind_the_end_is_counted_and_no_event() -> None:
    raw = "data: {}\n\n"
    found = played([{"events": ["created", DONE, {"wait": 0.01}, {"raw": raw}]}])

    assert found.types[-1] == "response.completed"
    assert found.end["bytes_behind_the_end"] == len(raw)


def test_a_comment_is_a_remark() -> None:
    found = played([{"events": [{"comment": "hello"}, {"wait": 0.01}, "created", DONE]}])

    assert len(found.notes) == 1
    assert len(found.events) == 2


def test_events_that_came_in_one_read_are_told_one_by_one() -> None:
    delta = 'data: {"type":"response.output_text.delta","delta":"%s"}\n\n'
    raw = "".join(delta % ("x" * 100) for _ in range(20))
    found = played([{"events": [{"raw": raw}, DONE]}])

    assert found.types == ["response.output_text.delta"] * 20 + ["response.completed"]
    assert {each["bytes"] for each in found.events[:20]} == {len(delta % ("x" * 100)) - 8}


def test_an_answer_that_is_not_streamed_is_one_event() -> None:
    with running([{"events": ["created", {"text": "Hi"}, DONE]}]) as lab:
        asked = '{"model": "m", "input": "hi", "stream": false}'
        found = watched(f"http://127.0.0.1:{lab.port}/v1", "--model", "m", said=asked)

    assert (found.status, found.types, found.fates) == (0, ["(completed)"], ["passed"])
    assert found.end["content_type"] == "application/json"


def test_nobody_there_is_a_failure() -> None:
    with running([{"events": []}]) as lab:
        port = lab.port
    found = watched(f"http://127.0.0.1:{port}/v1")

    assert (found.status, found.end["failure"], found.end["status"]) == (1, "read_error", None)


def test_the_request_is_what_was_asked_for() -> None:
    with running([{"events": [DONE]}]) as lab:
        watched(f"http://127.0.0.1:{lab.port}/v1")
        call = lab.over()

    assert call.json == {"stream": True, "model": "m", "input": "hi", "store": False}
    assert call.headers["accept"] == "text/event-stream"
    assert "authorization" not in call.headers


ROUND_TRIPS: list[Any] = [
    load("healthy"),
    load("breaks-after-text"),
    load("error-then-failed"),
    [{"crlf": True, "split": 7, "events": ["created", {"text": "ünï 😀\u2028"}, DONE, "done"]}],
    [{"events": ["created", {"raw": {"base64": "/wD+"}}, {"text": "x"}, {"end": "cut"}]}],
    [{"status": 429, "headers": {"retry-after": 3}, "body": BUSY}],
    [{"framing": "length", "events": ["created", {"end": "cut"}]}],
    [{"framing": "close", "events": ["created", {"text": "Hi"}]}],
]


@pytest.mark.parametrize("script", ROUND_TRIPS)
def test_what_is_recorded_is_played_back_byte_for_byte(script: Any, tmp_path: Path) -> None:
    first = recorded(script, "http", tmp_path / "a.yaml")
    again = recorded(load(tmp_path / "a.yaml"), "http", tmp_path / "b.yaml")

    assert again.timeless == first.timeless
    assert again.status == first.status
    ended = ("outcome", "ended", "rule", "code", "status", "content_type", "response_id")
    assert [again.end[name] for name in ended] == [first.end[name] for name in ended]
    assert _bytes_of(tmp_path / "b.yaml") == _bytes_of(tmp_path / "a.yaml")


def test_what_is_recorded_is_played_back_with_its_gaps(tmp_path: Path) -> None:
    """A lab waits at least as long as it is told, so a busy machine only makes them longer."""
    script = [{"events": ["created", {"wait": 0.08}, {"text": "Hi"}, {"wait": 0.04}, DONE]}]
    recorded(script, "http", tmp_path / "a.yaml")
    reply = load(tmp_path / "a.yaml").branches[0].replies[0]
    waits = reply.head_delay + sum(it.seconds for it in reply.steps if isinstance(it, Wait))
    again = played(load(tmp_path / "a.yaml"))

    assert waits >= 0.12 - ROUNDING
    assert again.end["last_event"] - again.end["sent"] >= waits - ROUNDING


def _bytes_of(file: Path) -> bytes:
    steps = load(file).branches[0].replies[0].steps
    return b"".join(step.data for step in steps if isinstance(step, Raw))
