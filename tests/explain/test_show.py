"""A plan in words: all of it is there, and fits on a page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from explain.made import FIRST, ROUTES, SECOND, planned, refused, settings
from latchway.explain import show
from latchway.explain.asked import Account

LINES: list[tuple[dict[str, Any], str]] = [
    ({}, "request      model m, http, one JSON answer"),
    ({"stream": True}, "request      model m, http, streamed"),
    ({"websocket": True}, "request      model m, websocket, streamed"),
    ({}, "binding      stateless: nothing ties it to a place"),
    ({"background": True}, "binding      origin_bound, by `background`: "),
    ({}, "routes       1. one/m    called first"),
    ({}, "             2. two/m-2  a replay can go there"),
    ({}, "             3. three/m  no replay goes there: disabled"),
    ({}, "sent         one/m    as it came, byte for byte"),
    ({"user": "u"}, '             two/m-2  model: "m-2"; without user'),
    ({}, "replay       yes, once; before output"),
    ({"store": True}, "replay       never; before output"),
    ({}, "               retryable_event (R2.1), route_refused (R2.1), read_error (R2.2)"),
    ({}, "reservation  0.000852000 USD, the most that it can cost:"),
    ({}, "             26 tokens in (the request's bytes), at 2.000000000 USD a million"),
    ({}, "not known    the weather"),
]


@pytest.mark.parametrize(("asked", "line"), LINES)
def test_the_text_says(asked: dict[str, Any], line: str) -> None:
    said = show.as_text(planned(settings(store_when_omitted="stateless"), **asked), ["the weather"])

    assert line in said
    assert max(map(len, said.splitlines())) <= show.COLUMNS


def test_a_store_that_is_left_out_is_named_too() -> None:
    asked = settings(*(replace(each, store_default=True) for each in ROUTES))

    assert "stored, by `store`, which is left out" in show.as_text(planned(asked), [])


@pytest.mark.parametrize(
    ("account", "line", "available"),
    [
        (Account("al", "x", 2_000_000_000, False, False), "al has 2.000000000 USD", "2.000000000"),
        (Account("al", "x", 0, True, False), "al is unlimited", None),
    ],
)
def test_a_balance_is_shown(account: Account, line: str, available: str | None) -> None:
    found = planned(account=account)

    assert line in show.as_text(found, [])
    assert show.as_json(found, [])["account"] == {
        "key": "al", "owner": "x", "available": available,
    }  # fmt: skip


def test_a_free_model_says_so() -> None:
    found = planned(settings(free=True))

    assert "none: the model is free" in show.as_text(found, [])
    assert show.as_json(found, [])["reservation"] is None


def test_json_has_all_of_it() -> None:
    said = show.as_json(planned(background=True), ["the weather"])

    assert json.loads(json.dumps(said)) == said
    assert (said["binding"], said["bound_by"]) == ("origin_bound", "background")
    assert [each["route"] for each in said["routes"][:2]] == [FIRST, SECOND]
    assert said["routes"][1]["why_not"] == "origin_bound"
    assert not said["can_be_replayed"]
    assert said["failures"][0] == {
        "failure": "retryable_event", "row": "R2.1", "verdict": "origin_bound", "rule": "R2.5",
    }  # fmt: skip
    assert said["reservation"]["output_tokens"] == 100
    assert said["unknown"] == ["the weather"]


def test_a_refusal_is_the_clients_error() -> None:
    found = refused(model="other")

    head, _, rest = show.refusal_as_text(found).partition("\n")
    assert head == "refused      404 model_not_found, nothing is called"
    assert json.loads(rest) == found.error
    assert show.refusal_as_json(found)["refused"]["status"] == 404
