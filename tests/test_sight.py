"""Nobody is told of a background response before it is noted, and all are told in order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.upstreams import completed, created, error, text
from latchway.ports import Granted, Unavailable, UpstreamEvent, Written
from latchway.sight import Sight
from latchway.turn import events as on
from latchway.wire.frame import Frame
from latchway.wire.marks import mark


class Bench:
    """`told`: what went on to the turn; `asked`: what the ledger was to note, and whom it tells."""

    def __init__(self) -> None:
        self.told: list[UpstreamEvent] = []
        self.asked: list[tuple[Sequence[bytes], Written]] = []
        self.sight = Sight(self._remember, self.told.append)

    def _remember(self, marks: Sequence[bytes], done: Written) -> None:
        self.asked.append((marks, done))

    def hear(self, *events: UpstreamEvent) -> list[UpstreamEvent]:
        for event in events:
            self.sight.hear(event)
        return list(events)


def read(*frames: Frame) -> UpstreamEvent:
    return on.Arrived(1, frames)


BEFORE = (on.Connected(1), on.Sent(1), on.Headed(1, 200, "up_1", ()), read(error()))
"""What names no response."""


@pytest.mark.parametrize("answer", [Granted(), Unavailable("no disk")])
def test_what_comes_with_the_id_and_behind_it_waits_until_it_is_noted(
    answer: Granted | Unavailable,
) -> None:
    bench = Bench()
    before = bench.hear(*BEFORE)
    assert bench.told == before
    behind = bench.hear(read(text(), created()), read(text()), on.Broke(1, "reset"))
    assert bench.told == before
    ((marks, done),) = bench.asked
    assert marks == [mark("resp_1")]
    done(answer)
    assert bench.told == before + behind


def test_it_is_noted_once() -> None:
    bench = Bench()
    events = bench.hear(read(created()))
    bench.asked[0][1](Granted())
    events += bench.hear(read(text()), read(completed()))
    assert bench.told == events
    assert len(bench.asked) == 1


def test_an_answer_from_within_the_call_keeps_the_order() -> None:
    told: list[UpstreamEvent] = []
    sight = Sight(lambda marks, done: done(Granted()), told.append)
    events = [read(created()), read(text())]
    for event in events:
        sight.hear(event)
    assert told == events
