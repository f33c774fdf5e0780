"""What is sent is what was asked for, and the turn knows what the gateway would know of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.turn.events import Binding
from latchway.watch.asking import asking, in_words
from latchway.wire.request import RequestFault

SENT: list[tuple[dict[str, Any], bool, dict[str, Any]]] = [
    ({"model": "m"}, False, {"stream": True, "model": "m"}),
    ({"model": "m", "stream": False}, False, {"stream": False, "model": "m"}),
    ({"model": "m"}, True, {"type": "response.create", "model": "m"}),
    ({"type": "response.create", "model": "m"}, True, {"type": "response.create", "model": "m"}),
]


@pytest.mark.parametrize(("asked", "websocket", "sent"), SENT)
def test_a_request_is_completed(
    asked: dict[str, Any], websocket: bool, sent: dict[str, Any]
) -> None:
    found = asking(json.dumps(asked).encode(), model=None, websocket=websocket, silence=None)

    assert json.loads(found.body) == sent
    assert found.streamed is (websocket or sent["stream"])


def test_a_model_that_is_named_takes_the_place_of_its_own() -> None:
    found = asking(b'{"model": "a"}', model="b", websocket=False, silence=None)

    assert (found.model, json.loads(found.body)["model"]) == ("b", "b")


@pytest.mark.parametrize(
    ("body", "binding"),
    [
        (in_words("m", "hi"), Binding.STATELESS),
        (b'{"model": "m", "input": "hi"}', Binding.STORED),
        (b'{"model": "m", "store": false, "background": true}', Binding.ORIGIN_BOUND),
    ],
)
def test_its_binding_is_the_gateways(body: bytes, binding: Binding) -> None:
    found = asking(body, model=None, websocket=False, silence=None)

    assert (found.place.binding, found.refusal) == (binding, None)


@pytest.mark.parametrize(
    ("silence", "clocks"),
    [(None, (10.0, 60.0, 300.0)), (5.0, (5.0,) * 3), (90.0, (10.0, 90.0, 90.0))],
)
def test_its_clocks_are_the_gateways_or_those_that_were_said(
    silence: float | None, clocks: tuple[float, ...]
) -> None:
    place = asking(in_words("m", "hi"), model=None, websocket=False, silence=silence).place

    assert clocks == (
        place.connect_timeout_seconds,
        place.first_event_timeout_seconds,
        place.idle_timeout_seconds,
    )


def test_a_whole_answer_has_a_clock_of_its_own() -> None:
    def clock(silence: float | None) -> float:
        found = asking(in_words("m", "hi"), model=None, websocket=False, silence=silence)
        return found.terms.whole_answer_timeout_seconds

    assert (clock(None), clock(5.0)) == (600.0, 5.0)


def test_what_the_gateway_would_refuse_is_sent_all_the_same() -> None:
    found = asking(b'{"input": 5}', model=None, websocket=False, silence=None)

    assert json.loads(found.body) == {"stream": True, "input": 5}
    assert found.refusal is not None
    assert found.refusal.startswith("invalid_request")
    assert found.place.binding is Binding.STATELESS


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(RequestFault):
        asking(b"[1]", model=None, websocket=False, silence=None)
