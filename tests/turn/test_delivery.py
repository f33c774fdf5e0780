"""What reaches the client, and when: the latch, the status line, headers and comments (R4, R5)."""

from __future__ import annotations

import pytest

from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.commands import Delivered
from latchway.turn.delivery import Terms
from latchway.turn.events import Binding
from latchway.wire.frame import Frame, Kind
from turn.made import (
    COMPLETED,
    CREATED,
    ERROR,
    FINAL,
    OVERLOADED,
    PING,
    PROGRESS,
    TEXT,
    Played,
    calling,
    frame,
    http,
    place,
    replaying,
    websocket,
)


def delivered(played: Played) -> list[Frame]:
    return [each for command in played.given(do.Deliver) for each in command.frames]


@pytest.mark.parametrize(
    ("frames", "latch"),
    [
        ([PING], Delivered.NOTHING),
        ([CREATED], Delivered.LIFECYCLE),
        ([PING, CREATED], Delivered.LIFECYCLE),
        ([FINAL], Delivered.NOTHING),
        ([CREATED, FINAL], Delivered.LIFECYCLE),
        ([TEXT], Delivered.OUTPUT),
        ([COMPLETED], Delivered.OUTPUT),
        ([frame(Kind.INCOMPLETE, status="incomplete")], Delivered.OUTPUT),
    ],
)
def test_what_counts_as_delivered(frames: list[Frame], latch: Delivered) -> None:
    """`error` and `response.failed` are the failure itself."""
    played = calling()
    played.turn.hand(frames, 101.0, [])
    assert played.turn.delivered is latch


def test_the_latch_never_opens_again() -> None:
    played = calling()
    for frames in ([CREATED], [TEXT], [CREATED], [PING]):
        played.turn.hand(frames, 101.0, [])
    assert played.turn.delivered is Delivered.OUTPUT


def test_the_latch_is_shut_before_the_frames_go_out() -> None:
    class Shut(list[do.Command]):
        def append(self, command: do.Command) -> None:
            assert played.turn.delivered is Delivered.OUTPUT
            super().append(command)

    played, out = calling(), Shut()
    played.turn.hand([TEXT], 101.0, out)
    assert len(out) == 1


def test_neutral_events_alone_make_no_response_known() -> None:
    played = calling()
    played.arrive(PING)
    played.turn.hand(played.turn.release(101.0), 101.0, [])
    assert played.turn.known is None
    played.arrive(CREATED, TEXT)
    assert played.turn.known is played.turn.attempt


def test_what_is_held_goes_before_what_comes() -> None:
    played = calling()
    played.arrive(PING, CREATED)
    (command,) = played.arrive(PROGRESS, TEXT, TEXT)
    assert command == do.Deliver((PING, CREATED, PROGRESS, TEXT, TEXT), "none")


def test_after_a_timed_release_everything_passes() -> None:
    played = calling()
    played.arrive(CREATED)
    assert played.wait(10.0) == [do.Deliver((CREATED,), "none")]
    assert played.arrive(PROGRESS, PING) == [do.Deliver((PROGRESS, PING), "none")]
    assert played.turn.released_by_timer
    assert played.turn.held_seconds == 10.0


@pytest.mark.parametrize(("seconds", "frames"), [(9.9, []), (10.0, [CREATED])])
def test_the_hold_has_its_limit(seconds: float, frames: list[Frame]) -> None:
    played = calling(websocket())
    played.arrive(CREATED)
    played.wait(seconds)
    assert delivered(played) == frames


def test_the_holds_limit_counts_from_the_first_event_held() -> None:
    played = calling(websocket(), hold_seconds=7.0)
    played.now += 3.0
    played.arrive(PING)
    assert played.turn.hold_due() is None
    played.now += 1.0
    played.arrive(CREATED)
    played.now += 2.0
    played.arrive(PROGRESS)
    assert played.turn.hold_due() == 111.0


@pytest.mark.parametrize("verdict", ["no_route", "stored"])
def test_the_header_says_why_it_was_refused(verdict: str) -> None:
    binding = Binding.STORED if verdict == "stored" else Binding.STATELESS
    played = calling(binding=binding, another=False)
    played.arrive(OVERLOADED)
    (command, _) = played.tell(on.Closed())
    assert command == do.Deliver(
        (OVERLOADED,), f"refused; reason={verdict}", retryable=verdict == "no_route"
    )


def test_the_header_says_that_it_was_replayed() -> None:
    assert calling().arrive(TEXT) == [do.Deliver((TEXT,), "none")]
    assert replaying().arrive(TEXT, attempt=2) == [do.Deliver((TEXT,), "replayed")]


def test_before_any_call_there_is_no_header() -> None:
    played = Played()
    played.tell(on.Begin(), on.RouteChosen(place()), on.Denied(2, 1))
    assert [fail.replay for fail in played.given(do.Fail)] == [None]


def test_early_headers_then_comments() -> None:
    played = calling()
    assert played.turn.due() == 110.0
    assert played.wait(9.9) == []
    assert played.wait(0.1) == [do.SendHead(None)]
    assert played.turn.due() == 125.0
    assert played.wait(15.0) == [do.Comment()]
    assert played.turn.due() == 140.0


def test_early_headers_wait_for_the_first_routes_hold_from_the_beginning() -> None:
    """Not from the replay, and not by the second route's."""
    played = calling(hold_seconds=7.0)
    played.now += 3.0
    played.tell(on.Broke(1, "reset"), on.RouteChosen(place("b", hold_seconds=1.0)))
    played.tell(on.ReplayRecorded())
    assert played.turn.client_due() == 107.0
    assert played.wait(4.0) == [do.SendHead("replayed")]


def test_a_delivery_sends_the_headers_and_puts_comments_off() -> None:
    played = calling()
    played.now += 6.0
    played.arrive(TEXT)
    assert played.turn.client_due() == 121.0
    assert played.wait(15.0) == [do.Comment()]


@pytest.mark.parametrize("terms", [websocket(), http(keepalive_seconds=0.0)])
def test_no_headers_and_no_comments_where_there_are_none(terms: Terms) -> None:
    played = calling(terms)
    assert played.turn.client_due() is None
    assert played.wait(50.0) == []


def test_headers_may_go_out_while_the_replay_is_made_durable() -> None:
    played = calling()
    played.tell(on.Broke(1, "reset"), on.RouteChosen(place("b")))
    assert played.wait(10.0) == [do.SendHead(None)]


def test_a_websocket_is_told_of_an_error_whether_to_send_again() -> None:
    played = calling(websocket(), another=False)
    played.arrive(ERROR)
    played.tell(on.Broke(1, "reset"), on.Closed())
    assert played.given(do.Deliver) == [do.Deliver((ERROR,), "refused; reason=no_route", True)]
