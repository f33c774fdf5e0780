"""Both sides of each rule of the choice."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.routes import select
from latchway.settings import Route
from latchway.turn.events import Binding
from routes.made import ENCRYPTED, FILE, request, route

A, B, C = route("a"), route("b"), route("c")
OFF = route("off", enabled=False)


def nowhere(name: str) -> bool:
    return False


def named(*names: str) -> Any:
    return lambda name: name in names


def names(routes: list[Route]) -> list[str]:
    return [each.name for each in routes]


@pytest.mark.parametrize(
    ("routes", "aside", "chosen"),
    [
        ([A, B], nowhere, A),
        ([OFF, B, A], nowhere, B),
        ([A, B, C], named("a"), B),
        ([A, B, C], named("a", "b"), C),
        ([A, B], named("a", "b"), A),
        ([A], named("a"), A),
        ([OFF], nowhere, None),
        ([], nowhere, None),
    ],
)
def test_the_first_that_is_enabled_and_those_set_aside_last(
    routes: list[Route], aside: Any, chosen: Route | None
) -> None:
    assert select.first(request(), routes, aside) == chosen


@pytest.mark.parametrize("fields", [ENCRYPTED, FILE, {"background": True}])
def test_what_only_its_origin_can_read_goes_to_the_first_set_aside_or_not(
    fields: dict[str, Any],
) -> None:
    assert select.first(request(**fields), [OFF, A, B], named("a")) == A


def test_a_stored_request_may_go_where_it_is_healthier() -> None:
    assert select.first(request(store=True), [A, B], named("a")) == B


@pytest.mark.parametrize(
    ("routes", "failed", "found"),
    [
        ([A, B, C], A, ["b", "c"]),
        ([A, B, C], B, ["a", "c"]),
        ([A, OFF, C], A, ["c"]),
        ([A], A, []),
        ([A, OFF], A, []),
    ],
)
def test_a_replay_goes_to_another_enabled_route(
    routes: list[Route], failed: Route, found: list[str]
) -> None:
    assert names(select.targets(request(), routes, failed, "provider")) == found


STORES = route("stores", store_default=True)


@pytest.mark.parametrize(
    ("store", "omitted", "found"),
    [
        (None, "provider", ["b"]),
        (None, "false", ["stores", "b"]),
        (None, "stateless", ["stores", "b"]),
        (False, "provider", ["stores", "b"]),
        (True, "stateless", []),
    ],
)
def test_a_route_that_would_store_it_is_no_target(
    store: bool | None, omitted: str, found: list[str]
) -> None:
    fields = {} if store is None else {"store": store}
    assert names(select.targets(request(**fields), [A, STORES, B], A, omitted)) == found


EU = route("eu", origin="eu")
EU_TOO = route("eu-2", origin="eu")
EU_STORES = route("eu-3", origin="eu", store_default=True)
US = route("us", origin="us")


@pytest.mark.parametrize(
    ("routes", "failed", "found"),
    [
        ([EU, EU_TOO, US, B], EU, ["eu-2"]),
        ([EU, EU_STORES, EU_TOO], EU, ["eu-2"]),
        ([EU, EU_STORES], EU, []),
        ([EU, US], EU, []),
        ([A, B], A, []),
    ],
)
def test_encrypted_items_are_replayed_within_their_origin_only(
    routes: list[Route], failed: Route, found: list[str]
) -> None:
    assert names(select.targets(request(**ENCRYPTED), routes, failed, "provider")) == found


@pytest.mark.parametrize(
    "bound",
    [
        request(**FILE),
        request(**ENCRYPTED, background=True),
        request("eu", **ENCRYPTED),
        request("eu"),
        request(previous_response_id="resp_1"),
        request(conversation="conv_1"),
    ],
)
def test_what_is_bound_otherwise_is_replayed_nowhere(bound: Any) -> None:
    assert select.targets(bound, [EU, EU_TOO], EU, "provider") == []


@pytest.mark.parametrize(
    ("routes", "chosen"),
    [
        ([B, A], A),
        ([B], None),
        ([route("a", enabled=False), B], None),
        ([B, route("a-mini", provider="at-a")], route("a-mini", provider="at-a")),
        ([route("a-mini", provider="at-a", enabled=False)], None),
        ([route("a-mini", provider="at-a"), A], A),
        ([route("a", enabled=False), route("a-mini", provider="at-a")], None),
        ([], None),
    ],
)
def test_a_continuation_goes_home_or_nowhere(routes: list[Route], chosen: Route | None) -> None:
    assert select.home(A, routes) == chosen


def test_a_disabled_maker_is_home_to_nothing() -> None:
    assert select.home(OFF, [route("other", provider="at-off")]) is None


def test_the_attempts_route_decides_what_binds() -> None:
    assert select.binding_at(request(), STORES, "provider") is Binding.STORED
    assert select.binding_at(request(), A, "provider") is Binding.STATELESS
