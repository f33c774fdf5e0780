"""The OpenAI SDK keeps responses and conversations through a real gateway, on real upstreams."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import environments
from clients.environments import Unavailable
from clients.gateway import Gateway
from clients.keeper import Keeper
from clients.roster import OLD

SECONDS = 60.0

SEEN = {
    "conversation": True,
    "renamed": {"a": "b"},
    "its items": 0,
    "an item": True,
    "told again": ["response.in_progress", "response.completed"],
    "its input": [],
    "cancelled": True,
    "counted": 7,
    "compacted": ["compaction"],
    "deleted": None,
    "deleted again": 404,
    "unknown": 404,
    "an unknown conversation": 404,
}
"""By step of `programs/kept.py`; what is served by whom depends on the routes."""


@pytest.fixture
def keepers() -> Iterator[tuple[Keeper, Keeper]]:
    both = Keeper("first"), Keeper("second")
    yield both
    for keeper in both:
        keeper.close()


def served(folder: Path, keepers: tuple[Keeper, Keeper], first_is_on: bool) -> Gateway:
    price = {"price": {"input": 1, "output": 4}, "context_tokens": 1000, "max_output_tokens": 100}
    routes = [{"provider": "first", "enabled": first_is_on}, {"provider": "second"}]
    providers = {keeper.name: {"base_url": keeper.url, "api_key": "k"} for keeper in keepers}
    models = {"m": {**price, "routes": routes}}
    return Gateway(folder, json.dumps({"providers": providers, "models": models}))


def run(gateway: Gateway) -> dict[str, Any]:
    try:
        python = environments.python(OLD)
    except Unavailable as reason:
        pytest.skip(f"the client is not installed: {reason}")
    program = environments.PROGRAMS / "kept.py"
    words = [python, program, gateway.url, gateway.key("keeper"), "m"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("first_is_on", [True, False])
def test_all_that_the_sdk_keeps_is_found_where_it_was_made(
    tmp_path: Path, keepers: tuple[Keeper, Keeper], first_is_on: bool
) -> None:
    gateway = served(tmp_path, keepers, first_is_on)
    said = run(gateway)
    gateway.stop()
    maker, other = keepers if first_is_on else keepers[::-1]
    by = f"By {maker.name}."
    seen = said["seen"]
    item = seen.pop("an item's end")
    assert item == said["ids"]["talk"]
    assert seen == {**SEEN, "served by": [by, by], "retrieved": by}
    assert len(maker.asked) == 17
    assert other.asked == []
    assert [record["outcome"] for record in gateway.records()] == ["completed"] * 3
    gateway.verify()


def test_it_is_found_after_the_first_route_came_back(
    tmp_path: Path, keepers: tuple[Keeper, Keeper]
) -> None:
    """What was made while a route was off stays with its maker, over a restart."""
    gateway = served(tmp_path, keepers, first_is_on=False)
    kept = run(gateway)["ids"]
    gateway.stop()
    again = served(tmp_path, keepers, first_is_on=True)
    request = {"model": "m", "input": "Three.", "previous_response_id": kept["second"]}
    answer = again.post(gateway.key("keeper"), request)
    again.stop()
    assert answer["output"][0]["content"][0]["text"] == "By second."
    assert keepers[0].asked == []
