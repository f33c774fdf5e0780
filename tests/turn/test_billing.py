"""Who pays: the table of R6, every line of it, and every case that it has."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from latchway.turn.billing import basis
from latchway.turn.commands import Basis, Delivered

BROKE = {"upstream_broke": True}
LEFT = {"client_left": True}
STOPPED: dict[str, Any] = {}
USAGE = {"usage_arrived": True}
USUAL = {
    "delivered": Delivered.OUTPUT,
    "result": False,
    "usage_arrived": False,
    "client_left": False,
    "upstream_broke": False,
    "client_left_pays": True,
    "upstream_broke_pays": False,
}


def turn(*facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**USUAL, **{name: value for fact in facts for name, value in fact.items()}, **more}


NOTHING, LIFECYCLE, OUTPUT = Delivered

TABLE = {
    "result with usage": (turn(USAGE, result=True), Basis.USAGE),
    "result without usage": (turn(result=True), Basis.ESTIMATE),
    "result, nothing delivered yet": (turn(USAGE, result=True, delivered=NOTHING), Basis.USAGE),
    "failed before output": (turn(BROKE, delivered=NOTHING), Basis.REFUND),
    "failed after a timed release": (turn(BROKE, delivered=LIFECYCLE), Basis.REFUND),
    "failed before output with usage": (turn(BROKE, USAGE, delivered=NOTHING), Basis.REFUND),
    "left before output": (turn(LEFT, delivered=NOTHING), Basis.REFUND),
    "left before output with usage": (turn(LEFT, USAGE, delivered=LIFECYCLE), Basis.REFUND),
    "broke after output with usage": (turn(BROKE, USAGE), Basis.USAGE),
    "broke after output": (turn(BROKE), Basis.FORGIVEN),
    "broke after output, charged": (turn(BROKE, upstream_broke_pays=True), Basis.ESTIMATE),
    "left after output with usage": (turn(LEFT, USAGE), Basis.USAGE),
    "left after output": (turn(LEFT), Basis.ESTIMATE),
    "left after output, free": (turn(LEFT, client_left_pays=False), Basis.FORGIVEN),
    "stopped after output": (turn(STOPPED), Basis.FORGIVEN),
    "stopped, others pay": (turn(STOPPED, upstream_broke_pays=True), Basis.FORGIVEN),
}


@pytest.mark.parametrize(("facts", "paid"), TABLE.values(), ids=TABLE)
def test_who_pays(facts: dict[str, Any], paid: Basis) -> None:
    assert basis(**facts) is paid


def test_nothing_that_was_not_delivered_is_charged() -> None:
    """Over every case: a charge needs output or a result; a loss needs output (I-B4)."""
    flags = [name for name in USUAL if name != "delivered"]
    for delivered, values in product(Delivered, product((False, True), repeat=len(flags))):
        facts = dict(zip(flags, values, strict=True))
        paid = basis(delivered=delivered, **facts)
        if paid in (Basis.USAGE, Basis.ESTIMATE):
            assert facts["result"] or delivered is Delivered.OUTPUT
        if paid is Basis.FORGIVEN:
            assert delivered is Delivered.OUTPUT
        if paid is Basis.USAGE:
            assert facts["usage_arrived"]
