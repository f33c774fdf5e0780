"""What a turn is told of its request, its transport and the settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway import settings
from latchway.settings import BillingSettings, TurnSettings
from latchway.terms import terms_of
from latchway.wire.request import Request, parse


def request(*, websocket: bool = False, **fields: Any) -> Request:
    return parse(json.dumps({"model": "m", "input": "hi"} | fields).encode(), websocket=websocket)


def test_what_the_transports_differ_in() -> None:
    http = terms_of(request(stream=True), settings())
    socket = terms_of(request(websocket=True), settings())

    assert (http.status_line, http.whole_pair, http.streamed) == (True, True, True)
    assert (socket.status_line, socket.whole_pair, socket.streamed) == (False, False, True)
    assert http.replay_fault_code == "response_failed"
    assert socket.replay_fault_code == "websocket_response_failed"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(request(stream=True), 15.0), (request(), 0.0), (request(websocket=True), 0.0)],
)
def test_only_a_stream_over_http_is_kept_alive(asked: Request, seconds: float) -> None:
    assert terms_of(asked, settings()).keepalive_seconds == seconds


ACTING = [{"type": "mcp", "server_label": "x", "server_url": "https://example.com"}]


@pytest.mark.parametrize(
    ("tools", "allowed", "acting"),
    [(ACTING, True, False), (ACTING, False, True), ([], False, False), ([], True, False)],
)
def test_acting_tools_count_where_the_setting_says_so(
    tools: list[Any], allowed: bool, acting: bool
) -> None:
    with_setting = settings(turn=TurnSettings(replay_acting_tools=allowed))
    assert terms_of(request(tools=tools), with_setting).acting_tools is acting


@pytest.mark.parametrize("broke", ["free", "estimate"])
@pytest.mark.parametrize("left", ["free", "estimate"])
def test_who_pays(broke: str, left: str) -> None:
    with_setting = settings(billing=BillingSettings(upstream_broke=broke, client_left=left))
    terms = terms_of(request(), with_setting)
    assert terms.upstream_broke_pays is (broke == "estimate")
    assert terms.client_left_pays is (left == "estimate")
