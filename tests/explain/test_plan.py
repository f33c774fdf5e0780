"""A plan is what the gateway's own functions say: binding, routes, verdicts, money, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explain.made import FIRST, SECOND, THIRD, explained, planned, refused, route, settings
from latchway.explain import plan
from latchway.explain.asked import Account, Assumed
from latchway.ledger import reservation
from latchway.routes.table import PIN_HEADER, RouteTable
from latchway.settings import LimitSettings
from latchway.turn.decide import Verdict
from latchway.turn.events import Binding
from latchway.wire.request import RequestFault

ITEM = {"type": "item_reference", "id": "rs_1"}
CRYPTIC = {"type": "reasoning", "encrypted_content": "x"}

BINDINGS: list[tuple[dict[str, Any], Binding, str | None]] = [
    ({}, Binding.STATELESS, None),
    ({"store": False}, Binding.STATELESS, None),
    ({"store": True}, Binding.STORED, "store"),
    ({"store": True, "previous_response_id": "resp_1"}, Binding.STORED, "store"),
    ({"previous_response_id": "resp_1"}, Binding.CONTINUATION, "previous_response_id"),
    ({"conversation": {"id": "conv_1"}}, Binding.CONTINUATION, "conversation"),
    ({"background": True}, Binding.ORIGIN_BOUND, "background"),
    ({"input": [{"role": "user", "content": "a"}, ITEM]}, Binding.ORIGIN_BOUND, "input[1]"),
    ({"input": [CRYPTIC]}, Binding.ORIGIN_BOUND, "input[0].encrypted_content"),
    ({"headers": {PIN_HEADER: SECOND}}, Binding.ORIGIN_BOUND, PIN_HEADER),
    ({"headers": {"x-codex-turn-state": "t"}}, Binding.ORIGIN_BOUND, "x-codex-turn-state"),
]


@pytest.mark.parametrize(("asked", "binding", "field"), BINDINGS)
def test_the_binding_names_its_field(
    asked: dict[str, Any], binding: Binding, field: str | None
) -> None:
    found = planned(**asked)

    assert (found.binding, found.field) == (binding, field)
    replayed = Verdict.REPLAY in {answer.verdict for answer in found.answers}
    assert replayed is (binding is Binding.STATELESS)


def test_a_route_that_stores_when_nothing_is_said_has_no_field_to_name() -> None:
    found = planned(settings(route(FIRST, store_default=True), route(SECOND)))

    assert (found.binding, found.field) == (Binding.STORED, None)


@pytest.mark.parametrize(
    ("asked", "fates"),
    [
        ({}, ["it is called first", None, "disabled"]),
        ({"store": True}, ["it is called first", "stored", "disabled"]),
        ({"background": True}, ["it is called first", "origin_bound", "disabled"]),
        ({"headers": {PIN_HEADER: SECOND}}, ["origin_bound", "it is called first", "disabled"]),
    ],
)
def test_each_route_is_a_target_or_says_why_not(
    asked: dict[str, Any], fates: list[str | None]
) -> None:
    found = planned(**asked)

    assert [each.route for each in found.routes] == [FIRST, SECOND, THIRD]
    assert [each.not_target for each in found.routes] == fates


def test_a_route_on_which_it_would_be_stored_is_no_target() -> None:
    asked = settings(route(FIRST), route(SECOND, store_default=True))

    assert planned(asked).routes[1].not_target == "stored"
    assert {answer.verdict for answer in planned(asked).answers} == {
        Verdict.NO_ROUTE, Verdict.FAILURE_FINAL,
    }  # fmt: skip


def test_encrypted_items_alone_may_be_replayed_within_their_origin() -> None:
    routes = (route(FIRST, origin="o"), route(SECOND, origin="o"), route(THIRD))
    found = planned(settings(*routes), input=[CRYPTIC])

    assert [each.not_target for each in found.routes] == [
        "it is called first", None, "origin_bound",
    ]  # fmt: skip
    assert found.answers[0].verdict is Verdict.REPLAY


def test_the_place_is_the_one_that_the_routes_themselves_choose() -> None:
    asked = settings()
    found = planned(asked)
    choice = RouteTable(asked, Assumed(FIRST)).first(found.request, "")

    assert choice.place
    assert [each.route for each in found.routes if each.first] == [choice.place.route]


@pytest.mark.parametrize(("may", "verdict"), [(True, "replay"), (False, "acting_tools")])
def test_a_tool_that_acts_counts_as_the_setting_says(may: bool, verdict: str) -> None:
    found = planned(settings(replay_acting_tools=may), tools=[{"type": "shell"}])

    verdicts = {answer.failure.rule: answer.verdict.value for answer in found.answers}
    assert verdicts["R2.2"] == verdict
    assert verdicts["R2.1"] == "replay"
    assert verdicts["R2.6"] == "failure_final"


@pytest.mark.parametrize(
    ("omitted", "asked", "place", "set_", "dropped"),
    [
        ("stateless", {}, 0, {}, ()),
        ("false", {}, 0, {"store": False}, ()),
        ("false", {"store": False}, 0, {}, ()),
        ("stateless", {"user": "u"}, 1, {"model": "m-2"}, ("user",)),
        ("stateless", {"websocket": True}, 0, {"stream": True}, ("type",)),
    ],
)
def test_what_goes_up_otherwise_is_named(
    omitted: str, asked: dict[str, Any], place: int, set_: dict[str, Any], dropped: tuple[str, ...]
) -> None:
    found = planned(settings(store_when_omitted=omitted), **asked)

    assert found.routes[place].changes == plan.Changes(set_, dropped)


def test_the_reservation_is_the_ledgers() -> None:
    found = planned(max_output_tokens=7)
    model = settings().models["m"]

    assert found.reserved is not None
    assert found.reserved.amount == reservation.amount(model, found.request)
    assert found.reserved.input_tokens == found.request.prompt_bytes
    assert (found.reserved.output_tokens, found.reserved.output_price) == (7, 8_000_000_000)


@pytest.mark.parametrize(
    ("asked", "tokens", "bounds"),
    [
        ({}, (26, 100), ("the request's bytes", "the model's max_output_tokens")),
        (
            {"max_output_tokens": 7}, (48, 7),
            ("the request's bytes", "the request's max_output_tokens"),
        ),
        (
            {"stream": True}, (26, 100),
            ("the request's bytes", "the model's max_output_tokens"),
        ),
        (
            {"max_output_tokens": 5000}, (51, 100),
            ("the request's bytes", "the model's max_output_tokens"),
        ),
        (
            {"previous_response_id": "resp_1"}, (1000, 100),
            ("the model's context_tokens", "the model's max_output_tokens"),
        ),
        (
            {"input": "x" * 2000}, (1000, 100),
            ("the model's context_tokens", "the model's max_output_tokens"),
        ),
    ],
)  # fmt: skip
def test_what_bounds_the_reservation_is_named(
    asked: dict[str, Any], tokens: tuple[int, int], bounds: tuple[str, str]
) -> None:
    found = planned(**asked).reserved

    assert found is not None
    assert (found.input_tokens, found.output_tokens) == tokens
    assert (found.input_bound, found.output_bound) == bounds


def test_a_free_model_reserves_nothing() -> None:
    assert planned(settings(free=True)).reserved is None


ALICE = Account("alice", "alice", 1_000_000_000, unlimited=False, revoked=False)
POOR = Account("alice", "alice", 10, unlimited=False, revoked=False)
REVOKED = Account("alice", "alice", 1_000_000_000, unlimited=False, revoked=True)
UNLIMITED = Account("alice", "alice", 0, unlimited=True, revoked=False)


@pytest.mark.parametrize("account", [None, ALICE, UNLIMITED])
def test_a_balance_that_suffices_refuses_nothing(account: Account | None) -> None:
    assert planned(account=account).account == account


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"model": "other"}, 404, "model_not_found"),
    ({"account": POOR}, 402, "insufficient_balance"),
    ({"account": REVOKED}, 401, "invalid_api_key"),
    ({"headers": {PIN_HEADER: "nowhere"}}, 400, "invalid_request"),
    ({"headers": {PIN_HEADER: THIRD}}, 503, "no_route_available"),
]


@pytest.mark.parametrize(("asked", "status", "code"), REFUSED)
def test_a_refusal_is_what_a_client_gets(asked: dict[str, Any], status: int, code: str) -> None:
    found = refused(**asked)

    assert (found.status, found.error["code"]) == (status, code)
    assert found.error["retryable"] is (code == "no_route_available")


@pytest.mark.parametrize(
    ("body", "websocket", "code"),
    [
        (b"{", False, "invalid_json"),
        (b'{"input": "hi"}', False, "invalid_request"),
        (b'{"model": "m", "background": true}', True, "unsupported_parameter"),
        (b'{"model": "m", "type": "session.update"}', True, "unsupported_parameter"),
    ],
)
def test_what_cannot_be_read_is_refused(body: bytes, websocket: bool, code: str) -> None:
    with pytest.raises(RequestFault) as fault:
        plan.read(body, {}, settings(), websocket=websocket)

    assert plan.refused(fault.value).error["code"] == code


@pytest.mark.parametrize(("websocket", "what"), [(False, "The body"), (True, "The create")])
def test_what_is_too_large_is_refused(websocket: bool, what: str) -> None:
    asked = replace(settings(), limits=LimitSettings(request_bytes=20))
    body = b'{"type": "response.create", "model": "m"}'
    with pytest.raises(RequestFault, match=what) as fault:
        plan.read(body, {}, asked, websocket=websocket)

    assert plan.refused(fault.value).status == 413


def test_what_another_made_is_refused() -> None:
    class Anothers(Assumed):
        def is_anothers(self, owner: str, marks: object) -> bool:
            return True

    found = explained(known=Anothers(FIRST), input=[ITEM])
    assert isinstance(found, plan.Refusal)
    assert found.error["param"] == "input"
