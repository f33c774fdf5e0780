"""A compaction: charged as a turn, called once, and its items go back to where they were made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.http import HttpPeer
from latchway.settings import TurnSettings
from latchway.turn import events as on
from latchway.wire.meaning import whole_answer

ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
COMPACTED = json.dumps(
    {"id": "resp_9", "object": "response.compaction", "output": [ITEM], "usage": USAGE}
).encode()


def compact(gateway: Gateway, **fields: Any) -> HttpPeer:
    peer = gateway.connect()
    said = json.dumps({"model": "m", "input": "hi"} | fields).encode()
    peer.request("POST", "/v1/responses/compact", said)
    gateway.clock.advance()
    return peer


def is_answered(gateway: Gateway, body: bytes = COMPACTED) -> None:
    result = whole_answer(body, streamed=False)
    assert result is not None
    gateway.call.heads()
    gateway.call.sends(result)
    gateway.clock.advance()


def test_it_is_reserved_settled_and_logged_as_a_turn() -> None:
    gateway = Gateway()
    peer = compact(gateway)
    is_answered(gateway)
    assert (peer.answer.status, peer.answer.body) == (200, COMPACTED)
    assert gateway.ledger.entries() == ["reserve", "charge", "release"]
    record = gateway.record
    assert (record["outcome"], record["streamed"]) == ("completed", False)
    assert record["attempts"][0]["usage"]["output_tokens"] == 5


@pytest.mark.parametrize(
    ("fields", "binding"),
    [
        ({}, "origin_bound"),
        ({"input": [ITEM]}, "origin_bound"),
        ({"previous_response_id": "resp_1"}, "continuation"),
    ],
)
def test_it_is_never_replayed(fields: dict[str, Any], binding: str) -> None:
    places = (route("a", origin="o"), route("b", origin="o"))
    gateway = Gateway(settings(*places, turn=TurnSettings(store_when_omitted="stateless")))
    gateway.ask()
    gateway.finish()
    peer = compact(gateway, **fields)
    calls = len(gateway.upstreams.calls)
    gateway.call.tell(on.Broke(1, "reset"))
    gateway.clock.advance()
    assert (peer.answer.status, peer.answer.code) == (502, "stream_read_error")
    assert peer.answer.headers["x-should-retry"] == "false"
    assert len(gateway.upstreams.calls) == calls
    (attempt,) = gateway.record["attempts"]
    assert (attempt["verdict"], attempt["rule"]) == (binding, "R2.5")
    assert gateway.record["binding"] == binding


def test_it_goes_where_a_turn_would_and_around_what_is_set_aside() -> None:
    gateway = Gateway()
    for _ in range(5):
        gateway.ask(store=True)
        gateway.call.breaks()
        gateway.clock.advance()
    compact(gateway)
    assert gateway.call.place.route == "b"


def test_what_it_made_goes_back_to_where_it_was_made() -> None:
    gateway = Gateway()
    compact(gateway, model="m")
    is_answered(gateway)
    gateway.app.ports.routes.attempt_ended("a", "R2.1", gateway.clock.time())
    gateway.ask(input=[ITEM])
    assert gateway.call.place.route == "a"
    gateway.ask(previous_response_id="resp_9")
    assert gateway.call.place.route == "a"


def test_it_is_no_stream() -> None:
    gateway = Gateway()
    peer = compact(gateway, stream=True)
    assert (peer.answer.status, peer.answer.code) == (400, "unsupported_parameter")
    assert gateway.upstreams.calls == []


def test_a_poor_key_is_told_so() -> None:
    gateway = Gateway()
    gateway.secret = gateway.ledger.add_key("poor", credit=0)
    assert compact(gateway).answer.code == "insufficient_balance"
