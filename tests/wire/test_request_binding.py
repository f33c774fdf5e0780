"""What ties a request to one place (R3), also those that real programs sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from latchway.turn.events import Binding
from latchway.wire.request import (
    Request,
    RequestFault,
    binding_of,
    bound_by_encrypted_only,
    parse,
)

REAL = json.loads((Path(__file__).parent / "data" / "client-requests.json").read_text())
"""What eleven real client programs sent, HTTP bodies and `response.create` messages."""

ENCRYPTED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}


def request(pinned: str | None = None, /, **fields: Any) -> Request:
    body = json.dumps({"model": "m", **fields}).encode()
    return parse(body, websocket=False, pinned_route=pinned)


def binding(of: Request, when_omitted: str = "stateless", default: bool = True) -> Binding:
    return binding_of(of, store_when_omitted=when_omitted, store_default=default)


@pytest.mark.parametrize(
    ("store", "when_omitted", "default", "stored"),
    [
        (True, "provider", False, True),
        (True, "false", False, True),
        (True, "stateless", False, True),
        (False, "provider", True, False),
        (False, "stateless", True, False),
        (None, "provider", True, True),
        (None, "provider", False, False),
        (None, "false", True, False),
        (None, "stateless", True, False),
    ],
)
def test_stored(store: bool | None, when_omitted: str, default: bool, stored: bool) -> None:
    got = binding(request(store=store), when_omitted, default)
    assert got is (Binding.STORED if stored else Binding.STATELESS)


ORIGIN = {"prompt": {"id": "p"}}
CONTINUED = {"previous_response_id": "r"}


@pytest.mark.parametrize(
    ("fields", "pinned", "wanted"),
    [
        ({}, None, Binding.STATELESS),
        ({"store": True, **CONTINUED, **ORIGIN}, "a", Binding.STORED),
        ({**CONTINUED, **ORIGIN}, "a", Binding.CONTINUATION),
        ({"conversation": "c"}, None, Binding.CONTINUATION),
        (ORIGIN, None, Binding.ORIGIN_BOUND),
        ({"background": True}, None, Binding.ORIGIN_BOUND),
        ({"input": [ENCRYPTED]}, None, Binding.ORIGIN_BOUND),
        ({}, "a", Binding.ORIGIN_BOUND),
    ],
)
def test_the_first_binding_in_order_names_the_request(
    fields: dict[str, Any], pinned: str | None, wanted: Binding
) -> None:
    assert binding(request(pinned, **fields)) is wanted


@pytest.mark.parametrize(
    ("fields", "pinned", "alone"),
    [
        ({"input": [ENCRYPTED]}, None, True),
        ({"input": [ENCRYPTED]}, "a", False),
        ({"input": [ENCRYPTED], **ORIGIN}, None, False),
        ({"input": [ENCRYPTED], **CONTINUED}, None, False),
        ({"input": [ENCRYPTED], "store": True}, None, False),
        ({}, None, False),
        ({}, "a", False),
        (ORIGIN, None, False),
    ],
)
def test_bound_by_encrypted_items_alone(
    fields: dict[str, Any], pinned: str | None, alone: bool
) -> None:
    got = request(pinned, **fields)
    assert bound_by_encrypted_only(got, store_when_omitted="false", store_default=True) is alone


def test_a_backends_own_routing_token_binds_by_header_too() -> None:
    body = b'{"model":"m"}'
    held = parse(body, websocket=False, headers={"x-codex-turn-state": "t"})
    assert (held.origin_field, binding(held)) == ("x-codex-turn-state", Binding.ORIGIN_BOUND)
    free = parse(body, websocket=False, headers={"x-codex-turn-state": "", "other": "x"})
    assert binding(free) is Binding.STATELESS


@pytest.mark.parametrize("sent", REAL, ids=lambda sent: sent["client"])
def test_what_real_clients_send_is_stateless_unless_stored_by_default(sent: dict[str, Any]) -> None:
    body = json.dumps(sent["body"]).encode()
    websocket = sent["transport"] == "websocket"
    if "stream_id" in sent["body"]:
        with pytest.raises(RequestFault, match="stream_id"):
            parse(body, websocket=websocket)
        return
    got = parse(body, websocket=websocket)
    assert binding(got, "provider", default=False) is Binding.STATELESS
    omitted = "store" not in sent["body"]
    assert (binding(got, "provider", default=True) is Binding.STORED) is omitted
    assert (got.acting_tool, got.partial_input) == (None, False)
    assert got.streamed is (websocket or sent["body"].get("stream", False))


def test_the_real_clients_are_all_there() -> None:
    assert len(REAL) == 37
    assert {sent["transport"] for sent in REAL} == {"http", "websocket"}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, Binding.ORIGIN_BOUND),
        ({"input": [ENCRYPTED]}, Binding.ORIGIN_BOUND),
        (CONTINUED, Binding.CONTINUATION),
        ({"store": True}, Binding.STORED),
    ],
)
def test_a_compaction_is_bound_whatever_is_in_it(fields: dict[str, Any], wanted: Binding) -> None:
    body = json.dumps({"model": "m", **fields}).encode()
    asked = parse(body, websocket=False, compacts=True)
    assert binding(asked, "provider", default=True) is wanted
    assert not bound_by_encrypted_only(asked, store_when_omitted="stateless", store_default=True)
