"""No client sees a background response before it is noted, and it sees all in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.gateway import Gateway
from harness.upstreams import completed, created, error, text
from latchway.ports import Granted, Unavailable, Written
from latchway.sight import Sight
from latchway.turn import commands as do
from latchway.wire.frame import Frame
from latchway.wire.marks import mark


class Told:
    """A client that notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *told: self.calls.append((name, *told))


class Bench:
    """`asked`: what the ledger was to note, and whom it tells."""

    def __init__(self) -> None:
        self.client = Told()
        self.asked: list[tuple[Sequence[bytes], Written]] = []
        self.sight = Sight(lambda marks, done: self.asked.append((marks, done)), self.client)

    def tell(self, *calls: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        for name, *told in calls:
            getattr(self.sight, name)(*told)
        return list(calls)


def delivered(*frames: Frame) -> tuple[str, do.Deliver]:
    return "deliver", do.Deliver(frames, None, False)


BEFORE = (("upstream_headers", ()), ("send_head", do.SendHead(None)), ("comment",))
BEHIND = (
    ("comment",), ("pass_answer", "an answer"), ("fail", do.Fail("stream_read_error", None, False)),
    ("end",),
)  # fmt: skip


@pytest.mark.parametrize("answer", [Granted(), Unavailable("no disk")])
def test_what_names_it_and_all_behind_it_waits_until_it_is_noted(
    answer: Granted | Unavailable,
) -> None:
    bench = Bench()
    before = bench.tell(*BEFORE, delivered(error()))
    assert bench.client.calls == before
    behind = bench.tell(delivered(text(), created()), delivered(text()), *BEHIND)
    assert bench.client.calls == before
    ((marks, done),) = bench.asked
    assert marks == [mark("resp_1")]
    done(answer)
    assert bench.client.calls == before + behind


def test_it_is_noted_once() -> None:
    bench = Bench()
    told = bench.tell(delivered(created()))
    bench.asked[0][1](Granted())
    told += bench.tell(delivered(text()), delivered(completed()))
    assert bench.client.calls == told
    assert len(bench.asked) == 1


def test_an_answer_from_within_the_call_keeps_the_order() -> None:
    client = Told()
    sight = Sight(lambda marks, done: done(Granted()), client)
    told = [delivered(created()), delivered(text())]
    for _, command in told:
        sight.deliver(command)
    assert client.calls == told


def test_what_has_arrived_counts_while_it_is_being_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway()
    noted: list[Written] = []
    monkeypatch.setattr(gateway.ledger, "remember", lambda *told: noted.append(told[-1]))
    peer = gateway.ask(store=True, background=True)
    gateway.call.heads()
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()
    assert gateway.record["outcome"] == "completed"
    assert not peer.transport.taken
    noted[0](Granted())
    assert peer.answer.types == ["response.created", "response.output_text.delta",
                                 "response.completed"]  # fmt: skip
