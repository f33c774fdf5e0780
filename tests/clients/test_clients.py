"""Two real clients against every way of R2; `make clients` tries all clients, and takes longer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clients.checking import differences
from clients.environments import Unavailable
from clients.leaving import LEFT, leave
from clients.page import table
from clients.playing import play
from clients.roster import CLIENTS, OLD
from clients.stage import set_up
from clients.stopping import STOPS
from clients.table import WAYS

QUICK = ("openai-python 2.15.0, stream", "websockets 16.0, socket")
FEW = 20


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What was not as R2 says, over all turns of both clients."""
    quick = [client for client in CLIENTS if client.name in QUICK]
    with set_up(WAYS, tmp_path_factory.mktemp("clients")) as stage:
        try:
            runs = [run for client in quick for run in play(stage, client)]
        except Unavailable as reason:
            pytest.skip(f"the clients are not installed: {reason}")
        assert len(runs) == len(QUICK) * len(WAYS)
        return differences(stage, runs)


@pytest.mark.parametrize("client", QUICK)
@pytest.mark.parametrize("way", [way.name for way in WAYS])
def test_a_client_meets_what_r2_says(found: list[str], client: str, way: str) -> None:
    assert [line for line in found if line.startswith(f"{client} / {way} ")] == []


@pytest.mark.parametrize("where", LEFT)
def test_every_turn_that_a_client_leaves_is_settled(tmp_path: Path, where: str) -> None:
    try:
        assert leave(tmp_path, OLD, where, FEW) == []
    except Unavailable as reason:
        pytest.skip(f"the client is not installed: {reason}")


def test_each_row_of_r2_has_its_way() -> None:
    tried = {way.rule for way in [*WAYS, *(stop.way for stop in STOPS.values())]} | {"R2.8"}
    assert tried >= {f"R2.{number}" for number in range(1, 18)}


def test_each_client_and_each_way_has_a_name_of_its_own() -> None:
    names = [client.name for client in CLIENTS] + [way.name for way in WAYS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", way.name) for way in WAYS)


def test_the_guide_has_the_table_of_ways() -> None:
    page = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in page, "print it with `python -m clients.page` in tests"
