"""The record of a turn that was refused before it began."""

from __future__ import annotations

import pytest

from harness.gateway import WALL, Gateway, body
from latchway.ports import Key
from latchway.serve.refused import refused_record
from latchway.wire.request import parse


@pytest.mark.parametrize("websocket", [True, False])
def test_what_is_known_of_it(websocket: bool) -> None:
    ports = Gateway().app.ports
    request = parse(body(), websocket=websocket)
    record = refused_record(
        "req_1", Key("alice", "team"), request, "shutting_down", ports, websocket=websocket
    )

    assert record["request_id"] == "req_1"
    assert (record["key"], record["owner"], record["model"]) == ("alice", "team", "m")
    assert record["transport"] == ("websocket" if websocket else "http")
    assert (record["outcome"], record["code"]) == ("failed", "shutting_down")
    assert (record["attempts"], record["delivered"]) == ([], "nothing")
    assert set(record["billing"].values()) == {"USD", "0.000000000", "none"}
    assert record["duration_ms"] == 0


def test_a_request_that_could_not_be_read_has_no_model() -> None:
    ports = Gateway().app.ports
    record = refused_record("req_1", Key("a", "a"), None, "invalid_json", ports, websocket=False)
    assert (record["model"], record["streamed"]) == ("", False)
    assert record["started_at"] == "2026-11-30T00:53:20.000Z"
    assert ports.wall() == WALL
