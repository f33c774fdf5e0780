"""How failures look over HTTP, and how an answer ends (R5)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.gateway import Gateway, body, route, settings
from harness.upstreams import completed, created, error, event, failed, response, text
from latchway.serve.stream import HttpClient
from latchway.settings import TurnSettings
from latchway.turn import commands as do

HOLD = 10.0
EARLY = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}


# ---- failures of the gateway's own

WAYS: dict[str, tuple[Any, int, str]] = {
    "a break": (lambda gateway: gateway.call.breaks(), 502, "stream_read_error"),
    "silence": (lambda gateway: gateway.clock.advance(61), 504, "first_event_timeout"),
    "shutdown": (lambda gateway: gateway.app.stop_turns(), 503, "shutting_down"),
}


@pytest.mark.parametrize("case", WAYS)
def test_with_the_status_line_open_a_failure_is_a_status(case: str) -> None:
    happens, status, code = WAYS[case]
    gateway = Gateway(settings(route("a")), turn=TurnSettings(keepalive_seconds=0))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(event("keepalive"))
    happens(gateway)
    gateway.clock.advance()

    assert (peer.answer.status, peer.answer.code) == (status, code)
    assert peer.answer.whole


@pytest.mark.parametrize("case", WAYS)
def test_with_the_status_line_gone_it_is_an_event(case: str) -> None:
    happens, _, code = WAYS[case]
    gateway = Gateway(settings(route("a")))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(HOLD)
    happens(gateway)
    gateway.clock.advance()

    (said,) = peer.answer.events
    assert (said["type"], said["sequence_number"], said["error"]["code"]) == ("error", 0, code)
    assert said["request_id"] == peer.answer.headers["x-request-id"]
    assert peer.answer.whole


def test_a_client_that_knows_the_response_hears_that_it_failed() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text(number=7))
    gateway.call.breaks()
    gateway.clock.advance()

    said, over = peer.answer.events[2:]
    assert (said["type"], said["sequence_number"]) == ("error", 8)
    assert (over["type"], over["sequence_number"]) == ("response.failed", 9)
    assert over["response"]["id"] == "resp_1"
    assert over["response"]["error"]["code"] == "stream_read_error"
    assert peer.answer.whole


def test_what_is_held_goes_first_and_then_the_failure() -> None:
    gateway = Gateway(settings(route("a")))
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), event("ping"))
    gateway.call.breaks()
    gateway.clock.advance()

    assert peer.answer.types == ["response.created", "ping", "error", "response.failed"]


# ---- failures of the upstream's


@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_a_pair_is_delivered_whole(pause: float) -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), error("invalid_prompt"))
    gateway.clock.advance(pause)
    gateway.call.sends(failed("invalid_prompt"))
    gateway.clock.advance()

    assert peer.answer.types == ["response.created", "error", "response.failed"]
    assert peer.answer.whole


def test_an_error_without_its_second_half_ends_the_answer_too() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(text(), error())
    assert peer.answer.types[-1] == "error"
    assert not peer.answer.whole

    gateway.clock.advance(1.1)
    assert peer.answer.types == ["response.output_text.delta", "error"]
    assert peer.answer.whole


def test_an_error_answer_is_passed_on_with_what_clients_count_on() -> None:
    gateway = Gateway(settings(route("a")))
    peer = gateway.ask()
    gateway.call.answers(429, {"error": {"code": "rate_limit_exceeded", "retry_after": 7}})
    gateway.clock.advance()

    answer = peer.answer
    assert answer.status == 429
    assert answer.json == {"error": {"code": "rate_limit_exceeded", "retry_after": 7}}
    assert (answer.headers["x-should-retry"], answer.headers["retry-after"]) == ("true", "7")


# ---- the body's end


def test_the_body_ends_with_the_terminal_event_not_with_the_upstream() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.finish()

    assert peer.answer.whole
    assert gateway.call.after == "released"


def test_an_event_is_passed_byte_for_byte() -> None:
    frame = text("\u2028 \u00e9 \x7f")
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(frame)
    assert peer.answer.body == frame.block


def test_http_1_0_gets_a_stream_that_ends_with_the_connection() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    data = body()
    peer.send(
        f"POST /v1/responses HTTP/1.0\r\nauthorization: Bearer {gateway.secret}\r\n"
        f"connection: keep-alive\r\ncontent-length: {len(data)}\r\n\r\n".encode()
        + data
    )
    gateway.finish()

    assert "transfer-encoding" not in peer.answer.headers
    assert peer.answer.headers["connection"] == "close"
    assert peer.answer.types[-1] == "response.completed"
    assert peer.closed


def test_one_body_answers_a_turn_that_is_not_streamed() -> None:
    gateway = Gateway()
    peer = gateway.ask(stream=False)
    gateway.call.heads()
    whole = b'{"object":"response"}'
    frame = completed()
    gateway.call.sends(type(frame)(frame.kind, whole, whole, 0, frame.note))
    gateway.clock.advance()

    assert peer.answer.body == whole
    assert peer.answer.headers["content-type"] == "application/json"
    assert peer.answer.headers["x-latchway-replay"] == "none"


class Cut:
    """A wire that says how it ended."""

    def __init__(self) -> None:
        self.data = b""
        self.cut = False

    def write(self, data: bytes) -> None:
        self.data += data

    def abort(self) -> None:
        self.cut = True


def client(wire: Cut) -> HttpClient:
    return HttpClient(wire, "req_1", streamed=True, chunked=True, close=False)


@pytest.mark.parametrize(
    ("commands", "cut"),
    [
        ([], True),
        ([do.SendHead(None)], True),
        ([do.Deliver((text(),), "none")], True),
        ([do.Deliver((error(),), "none")], False),
        ([do.Deliver((failed(),), "none")], False),
        ([do.Deliver((completed(),), "none")], False),
        ([do.Fail("internal_error", None, False)], False),
        ([do.SendHead(None), do.Fail("internal_error", None, False)], False),
    ],
    ids=["nothing", "head", "output", "error", "failed", "completed", "status", "late error"],
)
def test_an_answer_without_an_end_is_cut_not_ended(commands: list[Any], cut: bool) -> None:
    wire = Cut()
    told = client(wire)
    does: dict[type[Any], Any] = {
        do.SendHead: told.send_head,
        do.Deliver: told.deliver,
        do.Fail: told.fail,
    }
    for command in commands:
        does[type(command)](command)
    told.end()

    assert wire.cut is cut
    if not cut:
        assert wire.data.endswith((b"0\r\n\r\n", b"}"))


def test_nothing_is_written_for_a_client_that_is_gone() -> None:
    wire = Cut()
    told = client(wire)
    told.gone = True
    told.send_head(do.SendHead(None))
    told.deliver(do.Deliver((text(),), "none"))
    told.fail(do.Fail("internal_error", None, False))
    told.end()

    assert wire.data == b""
    assert not wire.cut


def test_the_needed_amount_is_named() -> None:
    wire = Cut()
    client(wire).fail(do.Fail("insufficient_balance", None, False, needed=1_500_000_000))
    assert b"1.500000000 USD" in wire.data
    assert wire.data.startswith(b"HTTP/1.1 402 ")


def test_a_whole_response_of_a_failure_is_no_success() -> None:
    """Its status line is the upstream's; what it is stands in the record."""
    gateway = Gateway(settings(route("a")))
    peer = gateway.ask(stream=False)
    gateway.call.heads()
    frame = failed("invalid_prompt")
    whole = str(response("failed")).encode()
    gateway.call.sends(type(frame)(frame.kind, whole, whole, 0, frame.note))
    gateway.clock.advance()

    assert (peer.answer.status, peer.answer.body) == (200, whole)
    assert (gateway.record["outcome"], gateway.record["code"]) == ("failed", "invalid_prompt")
    assert gateway.ledger.states() == ["void"]
