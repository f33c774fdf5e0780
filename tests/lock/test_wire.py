"""Every scenario over HTTP and over a WebSocket: real connections, driver, routes, upstreams, book.

What is recorded must be what the bare turn recorded, to the line, and the client must get exactly
the bytes that its file holds (R9). And the transports are compared: a claim of parity is checked,
not believed (R5).
"""

from __future__ import annotations

import re

import pytest

from latchway.wire.request import parse
from lock import script
from lock.fixtures import names, play_over, scenario, scenario_file, wire_file
from lock.money import REQUEST_BYTES
from lock.play import recorded
from lock.stage import request

PLAYS = [(name, transport) for name in names() for transport in scenario(name).transports]
BOTH = [name for name in names() if len(scenario(name).transports) == len(script.TRANSPORTS)]

DIFFERENT = {
    "after-output/error-then-gone": "over HTTP the `error` is out, so its client did not leave",
    "after-output/error-then-stop": "over HTTP the turn has failed by the `error` that is out",
    "ledger/refund-faults-behind-an-error": "over HTTP the `error` is out, and it was the cause",
    "routes/fault-at-the-replay": "the code is the transport's (R2.13)",
    "routes/fault-at-the-replay-bound": "the code is the transport's (R2.13)",
    "routes/fault-at-the-replay-late": "the code is the transport's (R2.13)",
}
"""Scripts whose log or bill depends on the transport, and why."""

PAIRED = re.compile(r"client +\d error")
"""The first of a pair, which a WebSocket does not get."""
OF_AN_ATTEMPT = re.compile(r"client +\d ")
NEUTRAL_DROPPED = {
    "hold/over-the-bound": "as below",
    "refused/no-other-route-neutral": "neutral events alone do not cost HTTP its status line (R5)",
    "refused/usage-in-a-neutral-event": "as above",
}


@pytest.mark.parametrize(("name", "transport"), PLAYS)
def test_it_is_what_the_bare_turn_does(name: str, transport: str) -> None:
    told = scenario(name)
    recording, got = play_over(told, transport)
    assert recording == recorded(told)[transport]
    assert got == wire_file(name, transport).read_bytes()


def test_of_each_request_as_much_counts_as_the_bare_turn_is_told() -> None:
    asked = [(request(scenario(name), transport), transport) for name, transport in PLAYS]
    read = [parse(body, websocket=transport == "websocket") for body, transport in asked]
    assert {each.prompt_bytes for each in read} == {REQUEST_BYTES}


@pytest.mark.parametrize("name", BOTH)
def test_calls_bill_and_verdict_are_the_same_on_both_transports(name: str) -> None:
    apart = [line for line in _apart(name) if not re.match(r"<. (client|clock) ", line)]
    assert bool(apart) is (name in DIFFERENT), apart


@pytest.mark.parametrize("name", BOTH)
def test_the_events_are_the_same_on_both_transports_but_for_the_pair(name: str) -> None:
    told = [line[3:] for line in _apart(name) if OF_AN_ATTEMPT.match(line[3:])]
    apart = [line for line in told if not PAIRED.match(line)]
    assert bool(apart) is (name in NEUTRAL_DROPPED), apart


def _apart(name: str) -> list[str]:
    """Lines of one transport alone."""
    text = scenario_file(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if re.match(r"<[hw] ", line)]
