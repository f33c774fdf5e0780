"""Questions about what a provider keeps: asked where it was made, and of nobody else's things."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway import Gateway, body, route, settings
from harness.upstreams import answer, completed, created, text
from latchway.ledger import made
from latchway.ledger.database import LedgerFault
from latchway.routes.table import PIN_HEADER
from latchway.settings import Settings, TurnSettings
from latchway.wire.frame import Answer
from latchway.wire.marks import mark

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
        ("DELETE", "/responses/resp_1?stream=true"),
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


@pytest.mark.parametrize(
    ("background", "asked"),
    [(True, [("a", "POST", "/responses/resp_1/cancel", b"")]), (False, [])],
)
def test_a_background_response_can_be_cancelled_while_its_turn_runs(
    background: bool, asked: list[Any]
) -> None:
    gateway = Gateway()
    gateway.upstreams.kept = KEPT
    gateway.ask(store=True, background=background)
    gateway.call.heads()
    gateway.call.sends(created(), text())
    gateway.clock.advance()
    bobs = f"Bearer {gateway.ledger.add_key('bob')}"
    cancel = "/v1/responses/resp_1/cancel"
    assert gateway.page(cancel, "POST", authorization=bobs).code == "response_not_found"
    assert (gateway.page(cancel, "POST").status == 200) is background
    assert gateway.upstreams.asked == asked
    gateway.call.sends(completed())
    gateway.clock.advance()
    assert gateway.page("/v1/responses/resp_1").status == 200


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
    ("kept", "status", "code", "again"),
    [
        ("the upstream reset the connection", 502, "stream_read_error", "true"),
        (answer(302), 502, "stream_read_error", "true"),
        (answer(401, {"error": {"code": "invalid_api_key"}}), 502, "upstream_auth_error", "false"),
        (None, 504, "first_event_timeout", "false"),
    ],
)
def test_what_the_upstream_makes_of_it(
    kept: Answer | str | None, status: int, code: str, again: str
) -> None:
    gateway = gateway_that_kept(turn=SOON)
    gateway.upstreams.kept = kept
    page = gateway.page("/v1/responses/resp_1")
    assert (page.status, page.code) == (status, code)
    assert page.headers["x-should-retry"] == again
    assert gateway.upstreams.given_up == 1


@pytest.mark.parametrize(
    ("status", "code", "again"),
    [
        (400, "gone", "false"),
        (404, "gone", "false"),
        (429, "rate_limit_exceeded", "true"),
        (500, "gone", "true"),
        (500, "invalid_prompt", "false"),
        (503, "server_is_overloaded", "true"),
        (504, "gone", "false"),
    ],
)
def test_an_error_of_the_upstreams_is_passed_on(status: int, code: str, again: str) -> None:
    """To read once more is safe, and helps where another answer can come: a client that waits for
    a background response goes on waiting."""
    gateway = gateway_that_kept()
    gateway.upstreams.kept = refusal = answer(status, {"error": {"code": code}})
    page = gateway.page("/v1/responses/resp_1")
    assert (page.status, page.body) == (status, refusal.body)
    assert page.headers["x-should-retry"] == again


@pytest.mark.parametrize("kept", [answer(503), "the upstream reset the connection"])
def test_what_changes_something_is_not_simply_asked_again(kept: Answer | str) -> None:
    gateway = gateway_that_kept()
    gateway.upstreams.kept = kept
    page = gateway.page("/v1/responses/resp_1", "DELETE")
    assert page.headers["x-should-retry"] == "false"


def test_how_long_to_wait_is_told() -> None:
    gateway = gateway_that_kept()
    body = {"error": {"code": "rate_limit_exceeded", "retry_after": 7}}
    gateway.upstreams.kept = answer(429, body)
    assert gateway.page("/v1/responses/resp_1").headers["retry-after"] == "7"


def test_a_route_that_is_off_is_not_asked() -> None:
    gateway = gateway_that_kept()
    gateway.app.settings = settings(route("a", enabled=False), route("b"))
    assert gateway.page("/v1/responses/resp_1").code == "no_route_available"
    assert gateway.upstreams.asked == []


@pytest.mark.parametrize("query", ["stream=yes", "stream=true&stream=", "after=\xe4"])
def test_a_query_that_cannot_be_passed_on_is_refused(query: str) -> None:
    gateway = gateway_that_kept()
    assert gateway.page(f"/v1/responses/resp_1?{query}").code == "invalid_request"
    assert gateway.upstreams.asked == []


def test_a_ledger_that_cannot_be_read_is_no_unknown_id(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = gateway_that_kept()

    def unreadable(*asked: Any) -> str | None:
        raise LedgerFault("the disk is gone")

    monkeypatch.setattr(made, "find", unreadable)
    assert gateway.page("/v1/responses/resp_1").code == "ledger_unavailable"
    body = b'{"model":"m","previous_response_id":"resp_1"}'
    counted = gateway.page("/v1/responses/input_tokens", "POST", body)
    assert counted.code == "ledger_unavailable"


@pytest.mark.parametrize("path", ["a%2fb", "a;b", "", "resp_1/items", "../conversations"])
def test_what_is_no_id_is_no_path(path: str) -> None:
    assert gateway_that_kept().page(f"/v1/responses/{path}").code == "not_found"


def test_counting_is_safe_to_do_again() -> None:
    gateway = gateway_that_kept()
    gateway.upstreams.kept = answer(503)
    page = gateway.page("/v1/responses/input_tokens", "POST", body())
    assert (page.status, page.headers["x-should-retry"]) == (503, "true")


@pytest.mark.parametrize("path", ["compact", "input_tokens"])
def test_what_is_a_path_of_its_own_is_no_id(path: str) -> None:
    assert gateway_that_kept().page(f"/v1/responses/{path}").code == "method_not_allowed"


def test_a_pin_away_from_home_is_refused() -> None:
    gateway = gateway_that_kept()
    page = gateway.page("/v1/responses/resp_1", x_latchway_route="b")
    assert (page.code, page.json["error"]["param"]) == ("invalid_request", PIN_HEADER)
    assert gateway.page("/v1/responses/resp_1", x_latchway_route="a").status == 200


# ---- conversations

FOUNDED = Answer(200, b'{"id":"conv_1","object":"conversation"}', "application/json")
ITEMS = Answer(200, b'{"object":"list","data":[{"id":"msg_1"},{"id":"msg_2"}]}', "application/json")
BY_REFERENCE = [{"type": "item_reference", "id": "msg_1"}]


def gateway_with_conversation(where: str = "b") -> Gateway:
    """One where `alice` has founded conv_1 at that route."""
    gateway = Gateway()
    gateway.upstreams.kept = FOUNDED
    page = gateway.page("/v1/conversations", "POST", b"{}", x_latchway_route=where)
    assert (page.status, page.body) == (200, FOUNDED.body)
    return gateway


@pytest.mark.parametrize(
    ("settings_", "pin", "route_", "code"),
    [
        (None, None, "a", None),
        (None, "b", "b", None),
        (settings(route("a", enabled=False), route("b")), None, "b", None),
        (settings(route("a", enabled=False), route("b")), "a", None, "no_route_available"),
        (settings(route("a", enabled=False)), None, None, "no_route_available"),
        (None, "c", None, "invalid_request"),
    ],
)
def test_where_a_conversation_is_founded(
    settings_: Settings | None, pin: str | None, route_: str | None, code: str | None
) -> None:
    gateway = Gateway(settings_)
    gateway.upstreams.kept = FOUNDED
    page = gateway.page("/v1/conversations", "POST", b'{"items":[]}', x_latchway_route=pin)
    assert [asked[0] for asked in gateway.upstreams.asked] == ([route_] if route_ else [])
    assert page.code == code if code else page.body == FOUNDED.body


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("POST", "", b'{"metadata":{}}'),
        ("DELETE", "", None),
        ("GET", "/items?limit=2&after=msg_0", None),
        ("POST", "/items", b'{"items":[]}'),
        ("GET", "/items/msg_1", None),
        ("DELETE", "/items/msg_1", None),
    ],
)
def test_a_conversation_is_asked_for_where_it_was_founded(
    method: str, path: str, body: bytes | None
) -> None:
    gateway = gateway_with_conversation()
    page = gateway.page(f"/v1/conversations/conv_1{path}", method, body)
    assert page.status == 200
    assert gateway.upstreams.asked[1:] == [
        ("b", method, f"/conversations/conv_1{path}", body or b"")
    ]
    other = gateway.ledger.add_key("bob")
    page = gateway.page(
        f"/v1/conversations/conv_1{path}", method, body, authorization=f"Bearer {other}"
    )
    assert (page.status, page.code) == (404, "response_not_found")
    assert len(gateway.upstreams.asked) == 2


def test_a_turn_goes_to_its_conversation_and_keeps_it_in_mind() -> None:
    gateway = gateway_with_conversation()
    for spelled in ("conv_1", {"id": "conv_1"}):
        gateway.ledger.connection.execute("UPDATE made SET made_ms = 5")
        gateway.ask(conversation=spelled)
        assert gateway.call.place.route == "b"
        gateway.finish()
        kept = "SELECT made_ms > 5 FROM made WHERE mark = ?"
        assert gateway.ledger.connection.execute(kept, (mark("conv_1"),)).fetchall() == [(1,)]


def test_a_turn_with_anothers_conversation_is_one_with_an_unknown_one() -> None:
    gateway = gateway_with_conversation()
    gateway.secret = gateway.ledger.add_key("bob")
    answer_ = gateway.ask(conversation="conv_1").answer
    assert (answer_.status, answer_.code) == (400, "conversation_not_found")
    assert gateway.upstreams.calls == []


def test_items_that_were_listed_are_found_again() -> None:
    gateway = gateway_with_conversation()
    gateway.upstreams.kept = ITEMS
    gateway.page("/v1/conversations/conv_1/items")
    gateway.ask(input=BY_REFERENCE)
    assert gateway.call.place.route == "b"


@pytest.mark.parametrize(("method", "status"), [("POST", 503), ("GET", 200)])
def test_what_was_made_and_cannot_be_noted_is_not_shown(method: str, status: int) -> None:
    gateway = gateway_with_conversation()
    gateway.ledger.fails.add("remember")
    assert gateway.page("/v1/conversations/conv_1/items", method, b"{}").status == status


def test_what_an_error_names_is_not_noted() -> None:
    gateway = gateway_with_conversation()
    gateway.upstreams.kept = answer(400, {"id": "resp_9", "error": {"code": "x"}})
    gateway.page("/v1/conversations/conv_1/items", "POST", b"{}")
    assert gateway.page("/v1/responses/resp_9").code == "response_not_found"


# ---- counting

COUNTED = Answer(200, b'{"object":"response.input_tokens","input_tokens":7}', "application/json")


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({}, "a"),
        ({"previous_response_id": "resp_1"}, "a"),
        ({"conversation": "conv_1"}, "b"),
    ],
)
def test_tokens_are_counted_where_the_turn_would_go(asked: dict[str, Any], where: str) -> None:
    gateway = gateway_with_conversation()
    gateway.ask(store=True)
    gateway.finish()
    gateway.upstreams.kept = COUNTED
    body = json.dumps({"model": "m", "input": "hi", **asked}).encode()
    page = gateway.page("/v1/responses/input_tokens", "POST", body)
    assert (page.status, page.body) == (200, COUNTED.body)
    route_, method, path, sent = gateway.upstreams.asked[-1]
    assert (route_, method, path) == (where, "POST", "/responses/input_tokens")
    upstream_model = gateway.settings.models["m"].routes[0 if where == "a" else 1].upstream_model
    assert json.loads(sent) == {"model": upstream_model, "input": "hi", **asked}
    assert len(gateway.ledger.records) == 1, "counting is no turn"
    assert gateway.ledger.states() == ["settled"], "and it is free"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b'{"input":"hi"}', "invalid_request"),
        (b'{"model":"x"}', "model_not_found"),
        (b'{"model":"m","previous_response_id":"resp_2"}', "previous_response_not_found"),
        (b'{"model":"m","conversation":"conv_2"}', "conversation_not_found"),
    ],
)
def test_what_cannot_be_a_turn_is_not_counted(body: bytes, code: str) -> None:
    gateway = Gateway()
    assert gateway.page("/v1/responses/input_tokens", "POST", body).code == code
    assert gateway.upstreams.asked == []
