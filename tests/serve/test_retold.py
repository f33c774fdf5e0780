"""A stored response told again: its bytes, its ends, its clocks, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.http import HttpPeer
from harness.upstreams import ScriptedStream, answer, completed, created, error, event, failed, text
from latchway.settings import TurnSettings
from latchway.turn import events as on
from latchway.turn.limits import PAIR_WAIT_SECONDS
from latchway.wire.frame import Frame
from latchway.wire.meaning import frame

QUERY = "stream=true&starting_after=3"
ITEM = event("response.output_item.done", item={"id": "rs_7", "encrypted_content": "gAAA"})
CLOCKS = {"first_event_timeout_seconds": 5.0, "idle_timeout_seconds": 20.0}


def asked(gateway: Gateway, query: str = QUERY) -> tuple[HttpPeer, ScriptedStream]:
    """`alice` asks for her stored resp_1, which route b made, as a stream."""
    peer = gateway.connect()
    peer.request("GET", f"/v1/responses/resp_1?{query}")
    return peer, gateway.upstreams.retold[-1][2]


@pytest.fixture
def gateway() -> Gateway:
    places = settings(route("a", **CLOCKS), route("b", **CLOCKS))
    gateway = Gateway(places, turn=TurnSettings(keepalive_seconds=4.0))
    gateway.connect().post(body_for_b(), x_latchway_route="b")
    gateway.clock.advance()
    gateway.finish()
    return gateway


def body_for_b() -> bytes:
    return b'{"model":"m","input":"hi","stream":true,"store":true}'


def blocks(*frames: Frame) -> bytes:
    return b"".join(frame.block for frame in frames)


def test_it_is_asked_of_its_maker_and_passed_byte_for_byte(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    assert gateway.upstreams.retold[-1][:2] == ("b", f"/responses/resp_1?{QUERY}")
    stream.heads()
    stream.sends(text("a", 4), text("b", 5))
    assert peer.answer.body == blocks(text("a", 4), text("b", 5))
    assert not peer.answer.whole
    stream.sends(completed(number=6), text("behind"))
    assert peer.answer.body == blocks(text("a", 4), text("b", 5), completed(number=6))
    assert peer.answer.whole
    assert stream.after == "released"
    assert peer.answer.headers["content-type"].startswith("text/event-stream")


def test_it_is_no_turn(gateway: Gateway) -> None:
    _, stream = asked(gateway)
    stream.sends(created(), completed())
    assert len(gateway.ledger.records) == 1
    assert gateway.ledger.asked == ["reserve", "close"]
    assert gateway.app.turns == set()


def test_the_connection_serves_on(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.sends(completed())
    peer.request("GET", "/v1/models")
    assert [each.status for each in peer.answers] == [200, 200]


ENDS: dict[str, tuple[list[Frame], on.UpstreamEvent, str]] = {
    "broke": ([created(), text()], on.Broke(1, "reset"), "stream_read_error"),
    "too large": ([created(), text()], on.Oversized(1), "stream_read_error"),
}


@pytest.mark.parametrize(("frames", "end", "code"), ENDS.values(), ids=ENDS)
def test_it_never_ends_quietly(
    gateway: Gateway, frames: list[Frame], end: on.UpstreamEvent, code: str
) -> None:
    peer, stream = asked(gateway)
    stream.sends(*frames)
    stream.tell(end)
    told = peer.answer.events[len(frames) :]
    assert [each["type"] for each in told] == ["error", "response.failed"]
    assert told[0]["error"]["code"] == code
    assert told[0]["error"]["retryable"] is False
    assert told[1]["response"]["id"] == "resp_1"
    assert [each["sequence_number"] for each in told] == [2, 3]
    assert peer.answer.whole


RUBBISH = (b"{not JSON", b'[{"type":"response.completed"}]', b'{"type":["x"],"item":7}')


def test_rubbish_is_passed_on_and_is_no_end(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    frames = [frame(data, b"data: %b\n\n" % data) for data in RUBBISH]
    stream.sends(*frames)
    assert peer.answer.body == blocks(*frames)
    stream.breaks()
    end = peer.answer.body.removeprefix(blocks(*frames))
    assert end.startswith(b"event: error\n")
    assert b"response.failed" not in end, "no response was named that could have failed"
    assert peer.answer.whole


def _answered(status: int, code: str) -> on.Answered:
    return on.Answered(1, answer(status, {"error": {"code": code}}))


REFUSED: dict[str, tuple[on.UpstreamEvent, int, str, str]] = {
    "its own error": (_answered(404, "gone"), 404, "gone", "false"),
    "too many": (_answered(429, "rate_limit_exceeded"), 429, "rate_limit_exceeded", "true"),
    "an overload": (_answered(503, "x"), 503, "x", "true"),
    "a redirect": (on.Answered(1, answer(302)), 502, "stream_read_error", "true"),
    "a credential": (on.Answered(1, answer(401)), 502, "upstream_auth_error", "false"),
    "an error under 200": (_answered(200, "x"), 502, "x", "false"),
    "nothing": (on.Broke(1, "reset"), 502, "stream_read_error", "true"),
}


@pytest.mark.parametrize(("event_", "status", "code", "again"), REFUSED.values(), ids=REFUSED)
def test_before_the_first_event_the_status_tells_why(
    gateway: Gateway, event_: on.UpstreamEvent, status: int, code: str, again: str
) -> None:
    peer, stream = asked(gateway)
    stream.tell(event_)
    assert (peer.answer.status, peer.answer.json["error"]["code"]) == (status, code)
    assert peer.answer.headers["x-should-retry"] == again
    assert stream.after == "dropped"


def test_a_pair_is_told_whole_and_an_error_alone_is_an_end(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.sends(error(), failed())
    assert peer.answer.types == ["error", "response.failed"]
    peer, stream = asked(gateway)
    stream.sends(error())
    assert not peer.answer.whole
    gateway.clock.advance(PAIR_WAIT_SECONDS)
    assert peer.answer.types == ["error"]
    assert peer.answer.whole
    peer, stream = asked(gateway)
    stream.sends(error())
    stream.breaks()
    assert peer.answer.types == ["error"]


def test_silence_has_an_end(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.heads()
    gateway.clock.advance(4.9)
    stream.comments()
    gateway.clock.advance(4.9)
    assert peer.answers == []
    gateway.clock.advance(0.1)
    assert (peer.answer.status, peer.answer.code) == (504, "first_event_timeout")
    assert stream.after == "dropped"
    peer, stream = asked(gateway)
    stream.sends(text())
    gateway.clock.advance(20.0)
    assert peer.answer.events[-1]["error"]["code"] == "stream_idle_timeout"


def test_a_quiet_stream_is_kept_open_by_comments(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    gateway.clock.advance(4.5)
    assert peer.answers == [], "no comment costs the status line"
    stream.sends(text())
    gateway.clock.advance(8.5)
    assert peer.answer.body.count(b": keepalive") == 2


def test_comments_can_be_switched_off(gateway: Gateway) -> None:
    gateway.app.settings = settings(turn=TurnSettings(keepalive_seconds=0.0))
    peer, stream = asked(gateway)
    stream.sends(text())
    gateway.clock.advance(19.0)
    assert peer.answer.body == text().block


def test_a_slow_client_slows_it_and_stops_its_clock(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.sends(text())
    peer.connection.pause_writing()
    assert stream.paused
    gateway.clock.advance(21.0)
    assert stream.after is None
    peer.connection.resume_writing()
    assert not stream.paused
    gateway.clock.advance(20.0)
    assert stream.after == "dropped"


def test_a_client_that_was_slow_before_is_slow_still(gateway: Gateway) -> None:
    peer = gateway.connect()
    peer.connection.pause_writing()
    peer.request("GET", f"/v1/responses/resp_1?{QUERY}")
    assert gateway.upstreams.retold[-1][2].paused


def test_a_client_that_leaves_ends_it(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.sends(text())
    peer.transport.leave()
    assert stream.after == "dropped"
    assert gateway.app.turns == set()


def test_a_drain_waits_for_it_and_then_ends_it(gateway: Gateway) -> None:
    peer, stream = asked(gateway)
    stream.sends(created(), text())
    drained: list[bool] = []
    gateway.app.drained = lambda: drained.append(True)
    gateway.app.drain()
    gateway.app.stop_turns()
    assert peer.answer.events[-2]["error"]["code"] == "shutting_down"
    assert drained == [True]


def test_while_the_gateway_drains_none_begins(gateway: Gateway) -> None:
    peer = gateway.connect()
    peer.send(b"GET /v1/responses/resp_1?stream=true HTTP/1.1\r\n")
    gateway.app.draining = True
    peer.send(f"host: x\r\nauthorization: Bearer {gateway.secret}\r\n\r\n".encode())
    assert (peer.answer.status, peer.answer.code) == (503, "shutting_down")
    assert gateway.upstreams.retold == []


def test_what_it_tells_of_can_be_sent_back(gateway: Gateway) -> None:
    _, stream = asked(gateway)
    stream.sends(ITEM, completed())
    held: dict[str, Any] = {"input": [{"type": "item_reference", "id": "rs_7"}]}
    gateway.ask(**held)
    assert gateway.call.place.route == "b"


def test_another_owners_response_is_not_told() -> None:
    gateway = Gateway()
    gateway.ask(store=True)
    gateway.finish()
    gateway.secret = gateway.ledger.add_key("bob")
    peer = gateway.connect()
    peer.request("GET", f"/v1/responses/resp_1?{QUERY}")
    assert (peer.answer.status, peer.answer.code) == (404, "response_not_found")
    assert gateway.upstreams.retold == []
