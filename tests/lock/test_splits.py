"""A sample of `make lock-splits`, the same on every run; and a wire that breaks the law."""

from __future__ import annotations

import logging

import pytest

from lock.script import TRANSPORTS
from lock.splits import faults_of, on_transport, prefixes, some, streams
from lock.upstream import Line

ONE_IN = 400
"""Of the prefixes: each takes some 20 ms."""
PREFIXES = list(prefixes(streams()))
SAMPLE = some(PREFIXES, ONE_IN)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Usage that cannot be true raises an alarm each time."""
    caplog.set_level(logging.CRITICAL, "latchway")


def test_every_place_of_every_stream_is_cut() -> None:
    assert {each.data for each in streams()} <= {each.data for each in PREFIXES}
    assert len(SAMPLE) > len(PREFIXES) / ONE_IN / 2


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_arrived_counts_however_it_was_cut(transport: str) -> None:
    assert faults_of(on_transport(SAMPLE, transport), transport) == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_reset_that_overtakes_bytes_is_found(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As streams do that stand between a transport and its reader."""
    end = Line.arrive_end

    def overtake(line: Line, *, reset: bool) -> None:
        if reset:
            line._arrived.clear()
        end(line, reset=reset)

    monkeypatch.setattr(Line, "arrive_end", overtake)
    found = faults_of(on_transport(SAMPLE, transport), transport)
    assert any("reset, to a slow client" in fault for fault in found)
