"""Questions about what a provider keeps: asked where it was made, and of nobody else's things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.upstreams import answer
from latchway.ledger.database import LedgerFault
from latchway.settings import Settings, TurnSettings
from latchway.wire.frame import Answer

KEPT = Answer(200, b'{"id":"resp_1"}', "application/json")
SOON = TurnSettings(whole_answer_timeout_seconds=0.001)


def gateway_that_kept(settings_: Settings | None = None, **differs: Any) -> Gateway:
    """One whose `alice` has had resp_1 made on route a."""
    gateway = Gateway(settings_, **differs)
    gateway.ask(store=True)
    gateway.finish()
    gateway.upstreams.kept = KEPT
    return gateway


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/responses/resp_1"),
        ("GET", "/responses/resp_1?include[]=reasoning.encrypted_content&stream=false"),
        ("DELETE", "/responses/resp_1"),
        ("GET", "/responses/resp_1/input_items?limit=5"),
        ("POST", "/responses/resp_1/cancel"),
    ],
)
def test_it_is_asked_where_it_was_made(method: str, path: str) -> None:
    gateway = gateway_that_kept()
    page = gateway.page(f"/v1{path}", method)
    assert gateway.upstreams.asked == [("a", method, path, b"")]
    assert (page.status, page.body) == (200, KEPT.body)
    assert page.headers["x-request-id"].startswith("req_")
    assert gateway.upstreams.given_up == 1


@pytest.mark.parametrize("path", ["/v1/responses/resp_2", "/v1/responses/resp_2/input_items"])
def test_what_nobody_here_has_seen_is_not_asked_for(path: str) -> None:
    gateway = gateway_that_kept()
    assert gateway.page(path).code == "response_not_found"
    assert gateway.upstreams.asked == []


def test_another_owners_response_does_not_exist() -> None:
    gateway = gateway_that_kept()
    other = gateway.ledger.add_key("bob")
    page = gateway.page("/v1/responses/resp_1", authorization=f"Bearer {other}")
    assert (page.status, page.code) == (404, "response_not_found")
    assert page.headers["x-should-retry"] == "false"
    assert gateway.upstreams.asked == []


@pytest.mark.parametrize(
    ("kept", "status", "code"),
    [
        ("the upstream reset the connection", 502, "stream_read_error"),
        (answer(302), 502, "stream_read_error"),
        (answer(401, {"error": {"code": "invalid_api_key"}}), 502, "upstream_auth_error"),
        (None, 504, "first_event_timeout"),
    ],
)
def test_what_the_upstream_makes_of_it(kept: Answer | str | None, status: int, code: str) -> None:
    gateway = gateway_that_kept(turn=SOON)
    gateway.upstreams.kept = kept
    page = gateway.page("/v1/responses/resp_1")
    assert (page.status, page.code) == (status, code)
    assert page.headers["x-should-retry"] == "false"
    assert gateway.upstreams.given_up == 1


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_an_error_of_the_upstreams_is_passed_on(status: int) -> None:
    gateway = gateway_that_kept()
    gateway.upstreams.kept = refusal = answer(status, {"error": {"code": "gone"}})
    page = gateway.page("/v1/responses/resp_1")
    assert (page.status, page.body) == (status, refusal.body)
    assert page.headers["x-should-retry"] == "false"


def test_a_route_that_is_off_is_not_asked() -> None:
    gateway = gateway_that_kept()
    gateway.app.settings = settings(route("a", enabled=False), route("b"))
    assert gateway.page("/v1/responses/resp_1").code == "no_route_available"
    assert gateway.upstreams.asked == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("stream=true", "unsupported_parameter"),
        ("stream=false&stream=true", "unsupported_parameter"),
        ("after=\xe4", "invalid_request"),
    ],
)
def test_a_query_that_cannot_be_passed_on_is_refused(query: str, code: str) -> None:
    gateway = gateway_that_kept()
    assert gateway.page(f"/v1/responses/resp_1?{query}").code == code
    assert gateway.upstreams.asked == []


def test_a_ledger_that_cannot_be_read_is_no_unknown_id(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = gateway_that_kept()

    def unreadable(owner: str, marks: Sequence[bytes]) -> str | None:
        raise LedgerFault("the disk is gone")

    monkeypatch.setattr(gateway.ledger, "maker", unreadable)
    assert gateway.page("/v1/responses/resp_1").code == "ledger_unavailable"


@pytest.mark.parametrize("path", ["compact", "input_tokens", "a%2fb", "a;b", ""])
def test_what_is_no_id_is_no_path(path: str) -> None:
    assert gateway_that_kept().page(f"/v1/responses/{path}").code == "not_found"
