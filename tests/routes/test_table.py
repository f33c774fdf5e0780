"""The port as the driver meets it: choices, refusals, and what the admin API shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from latchway.ports import Choice, Routes
from latchway.routes.table import RouteTable
from latchway.settings import Model
from latchway.turn.events import Binding, Place
from latchway.wire.marks import mark
from latchway.wire.request import Request
from routes.made import ENCRYPTED, FILE, model, request, route, settings

AB = model("m", route("a"), route("b"))
MADE = {"resp_a": "a", "resp_b": "b", "resp_gone": "gone", "conv_b": "b"}
"""By `team`; what else a route made is added by `made`."""

NOON = 1795953600.0


class Table(RouteTable):
    """A table at a moment that the test moves, which knows a few responses of `team`."""

    def __init__(self, *models: Model, **said: Any) -> None:
        self.moment = 100.0
        self.known = {mark(thing): route for thing, route in MADE.items()}
        self.anothers: set[bytes] = set()
        super().__init__(
            settings(*models, **said),
            self,
            now=lambda: self.moment,
            unix=lambda: NOON,
        )

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        known = (self.known.get(each) for each in reversed(marks) if owner == "team")
        return next((route for route in known if route is not None), None)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return owner == "team" and not self.anothers.isdisjoint(marks)

    def fail(self, name: str, times: int = 5, rule: str | None = "R2.2") -> None:
        for _ in range(times):
            self.attempt_ended(name, rule, self.moment)

    def chosen(self, asked: Request | None = None, owner: str = "team") -> str | None:
        place = self.first(asked or request(), owner).place
        return place and place.route


def test_it_is_the_drivers_port() -> None:
    port: Routes = Table(AB)
    assert port.first(request(), "team").place is not None


def test_a_place_carries_its_routes_clocks() -> None:
    clocks = {"hold_seconds": 1.0, "connect_timeout_seconds": 2.0}
    clocks |= {"first_event_timeout_seconds": 3.0, "idle_timeout_seconds": 4.0}
    table = Table(model("m", route("a", **clocks), route("b")))
    assert table.first(request(), "team") == Choice(
        Place("a", Binding.STATELESS, another=True, kindred=False, **clocks)
    )


# ---- refusals: nothing is called

BARE = model("m", route("a"), route("b"), context_tokens=None)
FREE = model("m", route("a"), context_tokens=None, free=True)
A_OFF = model("m", route("a", enabled=False), route("b"))
ALL_OFF = model("m", route("a", enabled=False))

REFUSALS: list[tuple[str, Model, Request, str, str | None]] = [
    ("an unknown model", AB, request(model="x"), "model_not_found", "model"),
    ("a pin to no route of it", AB, request("c"), "invalid_request", "x-latchway-route"),
    ("an unknown conversation", AB, request(conversation="conv_1"), "conversation_not_found",
     "conversation"),
    ("a pin away from a conversation", AB, request("a", conversation="conv_b"), "invalid_request",
     "x-latchway-route"),
    ("a conversation without context_tokens", BARE, request(conversation="conv_b"),
     "invalid_request", "conversation"),
    ("an unknown response", AB, request(previous_response_id="resp_x"),
     "previous_response_not_found", "previous_response_id"),
    ("a response of a route that is gone", AB, request(previous_response_id="resp_gone"),
     "no_route_available", None),
    ("a response of a disabled route", A_OFF, request(previous_response_id="resp_a"),
     "no_route_available", None),
    ("a pin to a disabled route", A_OFF, request("a"), "no_route_available", None),
    ("a pin away from home", AB, request("b", previous_response_id="resp_a"), "invalid_request",
     "x-latchway-route"),
    ("a response that is not where the conversation is", AB,
     request(conversation="conv_b", previous_response_id="resp_a"), "invalid_request",
     "previous_response_id"),
    ("all disabled", ALL_OFF, request(), "no_route_available", None),
    ("a file without context_tokens", BARE, request(**FILE), "invalid_request",
     "input[0].content[0].file_id"),
    ("a continuation without context_tokens", BARE, request(previous_response_id="resp_a"),
     "invalid_request", "previous_response_id"),
    ("an unknown response without context_tokens", BARE, request(previous_response_id="resp_x"),
     "previous_response_not_found", "previous_response_id"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("configured", "asked", "code", "param"),
    [each[1:] for each in REFUSALS],
    ids=[each[0] for each in REFUSALS],
)
def test_a_refusal_names_its_code_and_field(
    configured: Model, asked: Request, code: str, param: str | None
) -> None:
    choice = Table(configured).first(asked, "team")
    assert (choice.place, choice.code, choice.param) == (None, code, param)


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_what_another_owner_has_does_not_exist(field: str) -> None:
    table = Table(AB)
    asked, unknown = request(**{field: "conv_b"}), request(**{field: "no"})
    assert table.first(asked, "team").place is not None
    assert table.first(asked, "other") == table.first(unknown, "team")


def test_a_pin_away_from_home_is_told_what_it_would_leave() -> None:
    for field in ("previous_response_id", "conversation"):
        message = Table(AB).first(request("a", **{field: "conv_b"}), "team").message
        assert message is not None
        assert field in message


def test_the_refusal_of_partial_input_says_what_is_missing() -> None:
    message = Table(BARE).first(request(**FILE), "team").message
    assert message is not None
    assert "context_tokens" in message


@pytest.mark.parametrize(
    ("configured", "asked"), [(FREE, request(**FILE)), (BARE, request()), (AB, request(**FILE))]
)
def test_partial_input_needs_a_bound_only_where_it_costs(configured: Model, asked: Request) -> None:
    assert Table(configured).chosen(asked) == "a"


# ---- where a turn goes


@pytest.mark.parametrize(
    ("asked", "where", "binding"),
    [
        (request(), "b", Binding.STATELESS),
        (request(store=True), "b", Binding.STORED),
        (request(**FILE), "a", Binding.ORIGIN_BOUND),
        (request(**ENCRYPTED), "a", Binding.ORIGIN_BOUND),
        (request("a"), "a", Binding.ORIGIN_BOUND),
        (request(previous_response_id="resp_a"), "a", Binding.CONTINUATION),
        (request("a", previous_response_id="resp_a"), "a", Binding.CONTINUATION),
        (request(conversation="conv_b"), "b", Binding.CONTINUATION),
        (request(conversation={"id": "conv_b"}, **ENCRYPTED), "b", Binding.CONTINUATION),
        (request(conversation="conv_b", previous_response_id="resp_b"), "b", Binding.CONTINUATION),
    ],
)
def test_while_the_first_is_set_aside_only_what_is_not_tied_to_it_goes_elsewhere(
    asked: Request, where: str, binding: Binding
) -> None:
    table = Table(AB)
    table.fail("a")
    place = table.first(asked, "team").place
    assert place is not None
    assert (place.route, place.binding) == (where, binding)


def table_that_saw(made_by: str, *models: Model) -> Table:
    """One in which `made_by` made REASONING for `team`."""
    table = Table(*models)
    table.known |= {mark("rs_1"): made_by, mark("gAAA"): made_by}
    return table


def test_what_a_route_made_goes_back_to_it_set_aside_or_not() -> None:
    table = table_that_saw("b", AB)
    table.fail("b")
    assert table.chosen(request(**ENCRYPTED)) == "b"
    assert table.chosen(request(input=[{"type": "item_reference", "id": "rs_1"}])) == "b"
    assert table.chosen(request()) == table.chosen(request(**FILE)) == "a"


def test_another_owners_items_are_nobodys() -> None:
    assert table_that_saw("b", AB).chosen(request(**ENCRYPTED), owner="others") == "a"


@pytest.mark.parametrize(
    ("held", "param"),
    [
        (ENCRYPTED, "input"),
        ({"input": [{"type": "item_reference", "id": "rs_1"}]}, "input"),
        ({"tools": [{"type": "code_interpreter", "container": "rs_1"}]}, "tools"),
        ({"background_options": {"continuation_id": "rs_1"}}, "background_options"),
    ],
)
def test_what_is_known_to_be_anothers_is_refused(held: dict[str, Any], param: str) -> None:
    table = Table(AB)
    table.anothers = {mark("rs_1"), mark("gAAA")}
    choice = table.first(request(**held), "team")
    assert (choice.place, choice.code, choice.param) == (None, "invalid_request", param)
    assert table.chosen(request(**held), owner="others") == "a"


def test_a_pin_and_a_continuation_go_before_what_is_held() -> None:
    table = table_that_saw("b", AB)
    assert table.chosen(request(pin="a", **ENCRYPTED)) == "a"
    assert table.chosen(request(previous_response_id="resp_a", **ENCRYPTED)) == "a"


@pytest.mark.parametrize(
    ("b", "c", "chosen"),
    [
        ({"enabled": False}, {}, None),
        ({"enabled": False, "origin": "o"}, {"origin": "o"}, "c"),
        ({"enabled": False, "origin": "o"}, {"origin": "o", "enabled": False}, None),
        ({"origin": "o"}, {"origin": "o"}, "b"),
    ],
)
def test_what_its_maker_cannot_serve_goes_to_its_origin_or_nowhere(
    b: dict[str, Any], c: dict[str, Any], chosen: str | None
) -> None:
    table = table_that_saw("b", model("m", route("a"), route("b", **b), route("c", **c)))
    choice = table.first(request(**ENCRYPTED), "team")
    assert (choice.place and choice.place.route) == chosen
    assert choice.code == (None if chosen else "no_route_available")


def test_encrypted_items_go_around_a_maker_that_is_set_aside() -> None:
    """Its origin's other routes read them as well; what else it made only it can read."""
    kin = model("m", route("c"), route("a", origin="o"), route("b", origin="o"))
    table = table_that_saw("b", kin)
    assert table.chosen(request(**ENCRYPTED)) == "b"
    table.fail("b")
    assert table.chosen(request(**ENCRYPTED)) == "a"
    assert table.chosen(request(input=[{"type": "item_reference", "id": "rs_1"}])) == "b"
    table.fail("a")
    assert table.chosen(request(**ENCRYPTED)) == "b"


def test_a_continuation_of_another_model_goes_to_the_same_provider() -> None:
    mini = model("mini", route("b-mini", provider="at-b"), route("a-mini", provider="at-a"))
    assert Table(AB, mini).chosen(request(model="mini", previous_response_id="resp_a")) == "a-mini"


@pytest.mark.parametrize(
    ("asked", "another", "kindred"),
    [
        (request(), True, False),
        (request(**FILE), False, False),
        (request("a"), False, False),
        (request(**ENCRYPTED), True, True),
        (request("a", **ENCRYPTED), False, False),
    ],
)
def test_a_place_says_whether_a_replay_has_somewhere_to_go(
    asked: Request, another: bool, kindred: bool
) -> None:
    place = (
        Table(model("m", route("a", origin="o"), route("b", origin="o"))).first(asked, "t").place
    )
    assert place is not None
    assert (place.another, place.kindred) == (another, kindred)


def test_encrypted_items_alone_of_their_origin_are_not_kindred() -> None:
    place = Table(AB).first(request(**ENCRYPTED), "team").place
    assert place is not None
    assert (place.another, place.kindred) == (False, False)


# ---- replays


def replayed(table: Table, failed: str = "a", asked: Request | None = None) -> str | None:
    place = table.replay(asked or request(), failed)
    return place and place.route


def test_a_replay_prefers_what_is_not_set_aside_and_takes_it_when_no_other_is_left() -> None:
    table = Table(model("m", route("a"), route("b"), route("c")))
    table.fail("b")
    assert replayed(table) == "c"
    table.fail("c")
    assert replayed(table) == "b"


@pytest.mark.parametrize("asked", [request(store=True), request(**FILE), request("a")])
def test_what_is_tied_is_replayed_nowhere(asked: Request) -> None:
    assert replayed(Table(AB), asked=asked) is None


def test_there_is_no_replay_where_there_is_one_route() -> None:
    assert replayed(Table(model("m", route("a")))) is None


def test_a_replays_place_has_its_own_routes_binding() -> None:
    configured = model("m", route("a", store_default=True), route("b"))
    table = Table(configured)
    first = table.first(request(), "team").place
    second = table.replay(request(), "a")
    assert first is not None
    assert second is not None
    assert (first.binding, second.binding) == (Binding.STORED, Binding.STATELESS)


def test_the_bound_of_replays_is_the_settings() -> None:
    table = Table(AB)
    for _ in range(4):
        table.turn_began()
    room = [table.replay_room()]
    for act in (table.replay_began,) * 4 + (lambda: table.turn_ended(replayed=True),):
        act()
        room.append(table.replay_room())
    assert room == [True, True, True, True, False, False]


# ---- health


def test_set_aside_and_tried_once_by_the_turn_after_it() -> None:
    table = Table(AB)
    table.fail("a")
    assert table.chosen() == "b"
    table.moment += 30.0
    assert [table.chosen(), table.chosen()] == ["a", "b"]
    table.attempt_ended("a", None, table.moment)
    assert table.chosen() == "a"


def test_a_turn_that_is_tied_to_it_is_a_try_like_any_other() -> None:
    table = Table(AB)
    table.fail("a")
    table.moment += 30.0
    assert [table.chosen(request(**FILE)), table.chosen()] == ["a", "b"]


def test_nothing_is_set_aside_where_health_is_off() -> None:
    table = Table(AB, enabled=False)
    table.fail("a", times=50)
    assert table.chosen() == "a"
    assert [row["failures"] for row in table.routes_state(table.moment)] == [0, 0]


def test_what_the_admin_api_shows() -> None:
    table = Table(A_OFF, model("n", route("c"), route("d")))
    table.fail("c")
    table.fail("d", times=2)
    table.moment += 10.0
    ready: dict[str, Any] = {"state": "ready", "failures": 0, "set_aside_until": None}
    assert table.routes_state(table.moment) == [
        {"route": "a", "model": "m"} | ready | {"state": "disabled"},
        {"route": "b", "model": "m"} | ready,
        {"route": "c", "model": "n", "state": "set_aside", "failures": 5,
         "set_aside_until": "2026-11-29T12:00:20.000Z"},
        {"route": "d", "model": "n"} | ready | {"failures": 2},
    ]  # fmt: skip


def test_a_route_whose_time_is_over_is_shown_ready() -> None:
    table = Table(AB)
    table.fail("a")
    assert [row["state"] for row in table.routes_state(table.moment + 30.0)] == ["ready"] * 2
