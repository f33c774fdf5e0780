"""When the status line of a turn goes out over HTTP, and with which headers (R5)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.gateway import Gateway
from harness.upstreams import created, failed, text
from latchway.settings import TurnSettings

HOLD = 10.0
EARLY = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}


def replaying(gateway: Gateway) -> None:
    """The first attempt has failed; the second is open."""
    gateway.call.heads()
    gateway.call.sends(created(), failed())
    gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 2


# ---- the status line


def test_nothing_goes_out_before_the_hold_is_over() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(HOLD - 0.1)
    assert peer.answers == []

    gateway.clock.advance(0.2)
    assert peer.answer.status == 200
    assert EARLY.items() <= peer.answer.headers.items()
    assert peer.answer.body == b""
    assert not peer.answer.whole


def test_the_head_comes_a_hold_after_the_request_whatever_was_replayed() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.clock.advance(8.0)
    replaying(gateway)
    gateway.call.heads()
    gateway.clock.advance(1.9)
    assert peer.answers == []

    gateway.clock.advance(0.2)
    assert peer.answer.status == 200
    assert peer.answer.headers["x-latchway-replay"] == "replayed"


def test_a_released_hold_opens_the_answer() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(5)
    gateway.call.sends(created())
    gateway.clock.advance(HOLD - 0.1)
    assert peer.answer.body == b""
    gateway.clock.advance(0.2)
    assert peer.answer.types == ["response.created"]


def test_comments_keep_a_silent_stream_alive_and_are_none_of_its_events() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(HOLD + 15.0 - 0.1)
    assert peer.answer.comments == 0
    gateway.clock.advance(0.2)
    assert peer.answer.comments == 1

    gateway.call.sends(created(), text())
    gateway.clock.advance(14.8)
    assert peer.answer.comments == 1
    gateway.clock.advance(15.3)
    assert peer.answer.comments == 3
    assert peer.answer.types == ["response.created", "response.output_text.delta"]


def test_without_comments_there_is_no_early_head() -> None:
    gateway = Gateway(turn=TurnSettings(keepalive_seconds=0))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(50)
    assert peer.answers == []


def test_a_turn_that_is_not_streamed_has_neither() -> None:
    gateway = Gateway()
    peer = gateway.ask(stream=False)
    gateway.call.takes_request()
    gateway.clock.advance(300)
    assert peer.answers == []


# ---- headers

REPLAY_HEADERS: dict[str, tuple[Any, str | None]] = {
    "output": (lambda gateway: gateway.call.sends(text()), "none"),
    "a failure that is final": (
        lambda gateway: gateway.call.sends(failed("invalid_prompt")),
        "refused; reason=failure_final",
    ),
    "a failure that was metered": (
        lambda gateway: gateway.call.sends(
            failed(usage={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2})
        ),
        "refused; reason=usage_seen",
    ),
    "an answer that is final": (
        lambda gateway: gateway.call.answers(400, {"error": {"code": "invalid_image"}}),
        "refused; reason=failure_final",
    ),
    "headers that went out before": (lambda gateway: gateway.clock.advance(10), None),
}


@pytest.mark.parametrize("case", REPLAY_HEADERS)
def test_what_is_said_of_a_replay(case: str) -> None:
    happens, header = REPLAY_HEADERS[case]
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    happens(gateway)
    gateway.clock.advance()

    assert peer.answer.headers.get("x-latchway-replay") == header


def test_a_replay_is_said_whatever_came_of_it() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    replaying(gateway)
    gateway.call.breaks()
    gateway.clock.advance()

    assert peer.answer.code == "stream_read_error"
    assert peer.answer.headers["x-latchway-replay"] == "replayed"


def test_headers_of_the_delivered_attempt_alone_pass() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads(openai_version="first")
    gateway.call.sends(created(), failed())
    gateway.clock.advance()
    gateway.call.heads(openai_processing_ms="7")
    gateway.call.sends(text())

    assert peer.answer.headers["openai-processing-ms"] == "7"
    assert "openai-version" not in peer.answer.headers


def test_an_early_head_between_two_attempts_has_no_headers_of_the_first() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads(openai_version="first")
    gateway.call.sends(created(), failed())
    gateway.clock.advance()
    gateway.call.takes_request()
    gateway.clock.advance(HOLD)

    assert peer.answer.status == 200
    assert "openai-version" not in peer.answer.headers


def test_an_early_head_has_no_headers_of_an_attempt_that_may_yet_be_replayed() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads(openai_version="first")
    gateway.clock.advance(HOLD)
    gateway.call.sends(created(), failed())
    gateway.clock.advance()
    gateway.call.heads(openai_version="second")
    gateway.call.sends(text())

    assert peer.answer.status == 200
    assert "openai-version" not in peer.answer.headers


def test_the_headers_of_a_stream_forbid_buffering() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(text())

    assert peer.answer.headers["cache-control"] == "no-cache, no-transform"
    assert EARLY.items() <= peer.answer.headers.items()
    assert "content-encoding" not in peer.answer.headers
    assert peer.answer.headers["x-request-id"].startswith("req_")
