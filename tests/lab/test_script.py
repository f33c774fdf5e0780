"""Which reply is whose."""

from __future__ import annotations

import pytest

from latchway.lab.asked import Asked
from latchway.lab.script import Branch, Reply, Script

FIRST, SECOND = Reply("first"), Reply("second")
SCRIPT = Script(
    branches=(
        Branch((FIRST,), model="a", text="now"),
        Branch((FIRST,), text="later"),
        Branch((FIRST, SECOND), model="a"),
    ),
    models=("a",),
)


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        (Asked("a", "do it now"), 0),
        (Asked("b", "or later"), 1),
        (Asked("a", "whenever"), 2),
        (Asked("b", "do it now"), None),
        (Asked(), None),
    ],
)
def test_the_first_branch_that_fits(asked: Asked, place: int | None) -> None:
    assert SCRIPT.branch_for(asked) == place


def test_the_last_reply_is_for_all_that_follow() -> None:
    branch = SCRIPT.branches[2]
    assert [branch.reply(number) for number in range(4)] == [FIRST, SECOND, SECOND, SECOND]
