"""Every event is told with its times, its size and its fate; the report has how it ended."""

from __future__ import annotations

import pytest

from harness.upstreams import answer, completed, created, error, event, failed, text
from latchway.turn import events as on
from latchway.watch.seen import Fate
from latchway.watch.watcher import COMMENT, RELEASED
from latchway.wire.frame import Frame
from watch.made import Watching

PING = event("keepalive")
INCOMPLETE = event(
    "response.incomplete", response={"incomplete_details": {"reason": "content_filter"}}
)

HELD, PASSED, DROPPED = Fate.HELD, Fate.PASSED, Fate.DROPPED

FATES: list[tuple[list[tuple[Frame, ...]], list[Fate]]] = [
    # the reads; the fate of each event when it comes
    ([(created(),), (text(),), (completed(),)], [HELD, PASSED, PASSED]),
    ([(created(), text(), completed())], [HELD, PASSED, PASSED]),
    ([(created(), PING)], [HELD, HELD]),
    ([(text(), PING)], [PASSED, PASSED]),
    ([(completed(),)], [PASSED]),
    ([(created(), failed())], [HELD, DROPPED]),
    ([(created(), failed("invalid_prompt"))], [HELD, PASSED]),
    ([(text(), failed())], [PASSED, PASSED]),
    ([(created(), error())], [HELD, HELD]),
    ([(created(), error()), (failed("server_error"),)], [HELD, HELD, DROPPED]),
    ([(completed(), text())], [PASSED, DROPPED]),
]


@pytest.mark.parametrize(("reads", "fates"), FATES)
def test_each_event_has_its_fate(reads: list[tuple[Frame, ...]], fates: list[Fate]) -> None:
    here = Watching()
    for frames in reads:
        here.watcher.hear(on.Arrived(1, frames))

    assert [seen.fate for seen in here.seen] == fates


def test_times_sizes_and_classes_are_told() -> None:
    here, first, second = Watching(), created(), text("Hi", 4)
    for now, frames in ((1.0, (first,)), (1.5, (second,))):
        here.now = now
        here.watcher.hear(on.Arrived(1, frames))

    one, two = here.seen
    assert (one.at, one.gap, one.type, one.class_) == (1.0, 1.0, "response.created", "lifecycle")
    assert (two.at, two.gap, two.number, two.size) == (1.5, 0.5, 4, len(second.data))


def test_the_way_to_the_first_event_is_in_the_report() -> None:
    here = Watching()
    way = (on.Connected(1), on.Sent(1), on.Headed(1, 200, "req_9"), on.Arrived(1, (completed(),)))
    for heard in way:
        here.now += 1.0
        here.watcher.hear(heard)
    here.now = 9.0
    report = here.watcher.finish()

    assert (report.connected, report.sent, report.headed, report.first_event) == (1, 2, 3, 4)
    assert (report.status, report.request_id, report.response_id) == (200, "req_9", "resp_1")
    assert (report.outcome, report.ended) == ("completed", 4)
    assert report.usage is not None
    assert report.usage.output_tokens == 5


def test_an_incomplete_result_says_why() -> None:
    here = Watching()
    here.watcher.hear(on.Arrived(1, (INCOMPLETE,)))
    report = here.watcher.finish()

    assert (report.outcome, report.why) == ("incomplete", "content_filter")


@pytest.mark.parametrize(
    ("heard", "failure", "verdict", "why"),
    [
        (on.Broke(1, "it was reset"), "read_error", "replay", None),
        (on.Arrived(1, (failed(),)), "retryable_event", "replay", "No."),
        (on.Answered(1, answer(401)), "route_refused", "replay", None),
        (
            on.Answered(1, answer(400, {"error": {"code": "invalid_prompt", "message": "Bad."}})),
            "deterministic", "failure_final", "Bad.",
        ),
        (on.Oversized(1), "buffer_overflow", "failure_final", None),
    ],
)  # fmt: skip
def test_a_failure_has_the_gateways_name_and_verdict(
    heard: on.UpstreamEvent, failure: str, verdict: str, why: str | None
) -> None:
    here = Watching()
    here.watcher.hear(heard)
    report = here.watcher.finish()

    assert here.watcher.over
    assert report.record is not None
    assert (report.outcome, report.record.failure) == ("failed", failure)
    assert (report.record.verdict, report.why) == (verdict, why)


def test_what_is_held_for_ten_seconds_would_go_out() -> None:
    here = Watching()
    here.watcher.hear(on.Arrived(1, (created(),)))
    here.now = 10.0
    assert here.watcher.due() == 10.0
    here.watcher.tick()
    here.watcher.hear(on.Arrived(1, (created(),)))

    assert here.notes == [RELEASED]
    assert [seen.fate for seen in here.seen] == [Fate.HELD, Fate.PASSED]


def test_silence_ends_it_as_it_would_end_at_a_gateway() -> None:
    here = Watching()
    here.watcher.hear(on.Connected(1))
    here.watcher.hear(on.Sent(1))
    while not here.watcher.over:
        due = here.watcher.due()
        assert due is not None
        here.now = due
        here.watcher.tick()
    report = here.watcher.finish()

    assert here.now == 60.0
    assert report.record is not None
    assert report.record.failure == "first_event_timeout"


def test_comments_are_remarks() -> None:
    here = Watching()
    here.watcher.hear(on.Commented(1))

    assert (here.notes, here.seen) == ([COMMENT], [])


def test_who_stops_it_gets_what_there_is() -> None:
    here = Watching()
    here.watcher.hear(on.Arrived(1, (created(),)))
    here.now = 3.0
    report = here.watcher.finish()

    assert (report.outcome, report.ended, report.record) == ("stopped", 3.0, None)
