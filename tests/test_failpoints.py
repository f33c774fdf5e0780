"""Arming points, passing them, and what is said about a wrong name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from latchway import failpoints


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


def test_a_point_that_is_not_armed_neither_raises_nor_spends_another_ones_pass() -> None:
    failpoints.hit("settle")
    failpoints.arm("reserve:raise:2")
    failpoints.hit("reserve")
    failpoints.hit("settle")
    with pytest.raises(failpoints.FailpointRaised, match="reserve"):
        failpoints.hit("reserve")


def test_an_armed_point_raises_once() -> None:
    failpoints.arm("settle:raise")

    with pytest.raises(failpoints.FailpointRaised, match="settle") as raised:
        failpoints.hit("settle")
    assert raised.value.name == "settle"
    failpoints.hit("settle")


def test_the_nth_pass_is_the_one_that_raises() -> None:
    failpoints.arm("attempt_1:raise:3")

    failpoints.hit("attempt_1")
    failpoints.hit("attempt_1")
    with pytest.raises(failpoints.FailpointRaised):
        failpoints.hit("attempt_1")


def test_several_points_are_armed_together() -> None:
    failpoints.arm("settle:raise, refund:raise:2")

    failpoints.hit("refund")
    for name in ("settle", "refund"):
        with pytest.raises(failpoints.FailpointRaised, match=name):
            failpoints.hit(name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("setle:raise", "no failpoint 'setle'; there are reserve, "),
        ("settle", "say settle:raise or settle:kill"),
        ("settle:explode", "say settle:raise or settle:kill"),
        ("settle:raise:0", "counted from 1, not '0'"),
        ("settle:raise:often", "counted from 1, not 'often'"),
        ("reserve:raise,settle:", "say settle:raise or settle:kill"),
    ],
)
def test_a_wrong_value_is_named_with_its_mend(text: str, said: str) -> None:
    with pytest.raises(failpoints.FailpointFault, match=said) as fault:
        failpoints.arm(text)
    assert str(fault.value).startswith("LATCHWAY_FAILPOINT")


def test_a_wrong_value_leaves_what_was_armed() -> None:
    failpoints.arm("settle:raise")
    with pytest.raises(failpoints.FailpointFault):
        failpoints.arm("reserve:raise,nonsense:raise")

    failpoints.hit("reserve")
    with pytest.raises(failpoints.FailpointRaised):
        failpoints.hit("settle")


def test_kill_ends_the_process_at_once() -> None:
    code = (
        "from latchway import failpoints\n"
        "failpoints.arm('settle:kill:2')\n"
        "failpoints.hit('settle'); print('once', flush=True)\n"
        "failpoints.hit('settle'); print('twice')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)

    assert done.returncode == -9
    assert done.stdout == "once\n"


@pytest.mark.parametrize(
    "name", ["reserve", "attempt_1", "select_route_replay", "attempt_2", "settle", "refund"]
)
def test_the_promised_points_are_there(name: str) -> None:
    assert failpoints.NAMES[name]
