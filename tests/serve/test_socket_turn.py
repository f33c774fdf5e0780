"""The client of a turn over WebSocket: frames of the upstream's, and errors in one shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.upstreams import answer, completed, created, error, event, text
from harness.websocket import frames_of
from latchway.serve.socket_turn import SocketClient
from latchway.turn import commands as do
from latchway.wire.frame import Frame, Kind, Run


class Wire:
    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    @property
    def messages(self) -> list[bytes]:
        return [frame.data for data in self.writes for frame in frames_of(data)]


def client() -> tuple[SocketClient, Wire]:
    wire = Wire()
    return SocketClient(wire, "req_1"), wire


def test_events_pass_byte_for_byte_and_those_that_came_together_in_one_write() -> None:
    told, wire = client()
    frames = (created(), text("\u2028"), completed())
    told.deliver(do.Deliver(frames, None))

    assert len(wire.writes) == 1
    assert wire.messages == [frame.data for frame in frames]


def test_each_event_of_a_run_is_a_frame() -> None:
    told, wire = client()
    each = (text("a").data, text("\u2028").data)
    told.deliver(do.Deliver((created(), Run(Kind.OUTPUT, each[-1], b"", each=each)), None))

    assert len(wire.writes) == 1
    assert wire.messages == [created().data, *each]


def test_an_event_that_is_no_text_is_mended() -> None:
    told, wire = client()
    told.deliver(do.Deliver((Frame(Kind.OUTPUT, b'{"a":"\xff"}', b""),), None))
    assert json.loads(wire.messages[0]) == {"a": "\ufffd"}


ERRORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a nested error": (
        error("server_is_overloaded"),
        {"status": 500, "code": "server_is_overloaded", "retryable": True},
    ),
    "a flat error": (
        event("error", code="rate_limit_exceeded", message="No.", sequence_number=1),
        {"status": 429, "code": "rate_limit_exceeded", "retryable": True},
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_event_gets_what_clients_count_on(case: str) -> None:
    frame, expected = ERRORS[case]
    told, wire = client()
    told.deliver(do.Deliver((frame,), None, retryable=True))
    said = json.loads(wire.messages[0])

    assert said["status"] == expected["status"]
    assert said["error"]["code"] == expected["code"]
    assert said["error"]["retryable"] is expected["retryable"]
    assert said["request_id"] == "req_1"


def test_an_error_that_has_a_status_passes_unchanged() -> None:
    told, wire = client()
    frame = event("error", status=503, error={"code": "x"})
    told.deliver(do.Deliver((frame,), None, retryable=True))
    assert wire.messages == [frame.data]


@pytest.mark.parametrize("status", [429, 503])
def test_an_error_answer_is_told_in_a_frame(status: int) -> None:
    told, wire = client()
    body = {"error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    told.pass_answer(do.PassAnswer(answer(status, body), "none", True))
    said = json.loads(wire.messages[0])

    assert (said["type"], said["status"]) == ("error", status)
    assert said["error"]["message"] == "Slow down."
    assert said["error"]["retryable"] is True


def test_a_failure_of_our_own() -> None:
    told, wire = client()
    told.fail(do.Fail("stream_read_error", None, False, response_id="resp_1"))
    (said,) = (json.loads(message) for message in wire.messages)

    assert (said["status"], said["error"]["code"]) == (502, "stream_read_error")
    assert said["error"]["type"] == "server_error"


def test_nothing_else_is_written() -> None:
    told, wire = client()
    told.send_head(do.SendHead(None))
    told.comment()
    told.upstream_headers((("openai-version", "x"),))
    told.end()
    assert wire.writes == []


def test_nothing_is_written_for_a_client_that_is_gone() -> None:
    told, wire = client()
    told.gone = True
    told.deliver(do.Deliver((text(),), None))
    told.fail(do.Fail("internal_error", None, False))
    assert wire.writes == []


def test_a_failure_after_output_is_one_frame_without_a_response_failed() -> None:
    gateway = Gateway(settings(route("a")))
    peer = gateway.socket()
    peer.create()
    gateway.call.heads()
    gateway.call.sends(created(), text())
    gateway.call.breaks()
    gateway.clock.advance()
    assert peer.types == ["response.created", "response.output_text.delta", "error"]
