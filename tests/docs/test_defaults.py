"""The table of defaults in docs/sdks.md: two programs are tried anew; `make defaults` tries all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clients.environments import Unavailable
from docs.defaults import PLAYED, Stage, head, row, set_up
from repo.tree import ROOT, text_of

BEGIN, END = "<!-- defaults: printed by `make defaults` -->\n", "<!-- end"
PRINTED = text_of(ROOT / "docs" / "sdks.md").partition(BEGIN)[2].partition(END)[0].splitlines()
QUICK = ("openai-python", "openai-node")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with set_up(tmp_path_factory.mktemp("defaults")) as stage:
        yield stage


def test_the_page_has_each_failure_and_each_program() -> None:
    assert tuple(PRINTED[:2]) == head()
    assert [line.split(" | ")[0].removeprefix("| ") for line in PRINTED[2:]] == list(PLAYED)


@pytest.mark.parametrize("name", QUICK)
def test_a_program_does_what_the_page_says(stage: Stage, name: str) -> None:
    try:
        tried = row(stage, name)
    except Unavailable as reason:
        pytest.skip(f"{name} cannot be installed here: {reason}")
    assert tried in PRINTED, "say `make defaults`"
