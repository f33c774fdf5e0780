"""The judge is the gateway's turn: it holds, passes, ends, and has a verdict on each failure."""

from __future__ import annotations

from harness.upstreams import completed, created, failed, text
from latchway.turn import events as on
from latchway.watch.judge import Judge
from watch.made import asked


def test_it_tells_what_goes_out_with_what() -> None:
    judge, first, second = Judge(asked()), created(), text()

    assert judge.hear(on.Arrived(1, (first,)), 0.1) == []
    assert judge.hear(on.Arrived(1, (second,)), 0.2) == [id(first), id(second)]
    assert not judge.over


def test_a_result_goes_out_although_nobody_pays() -> None:
    judge, result = Judge(asked()), completed()

    assert judge.hear(on.Arrived(1, (result,)), 0.1) == [id(result)]
    assert judge.over
    assert judge.record is not None
    assert (judge.record.outcome, judge.record.verdict) == ("completed", None)


def test_a_failure_that_would_be_replayed_ends_it_and_goes_nowhere() -> None:
    judge = Judge(asked())

    assert judge.record is None
    assert judge.hear(on.Arrived(1, (created(), failed())), 0.1) == []
    assert judge.over
    assert judge.record is not None
    assert (judge.record.verdict, judge.record.rule) == ("replay", "R2.1")
