"""The player itself: what it reads, what it refuses, how it writes."""

from __future__ import annotations

import pytest

from latchway.turn import events as on
from latchway.wire.frame import Frame, Kind, Usage
from lock.bare import Bare, place
from lock.play import play, recorded
from lock.said import event
from lock.script import read, write

SMALL = """A turn.

rules: R2.2
client: http

> begin
> 1 broke
"""


def frames(words: str) -> tuple[Frame, ...]:
    told = event(1, words)
    assert isinstance(told, on.Arrived)
    return told.frames


def test_a_file_is_read_without_what_was_recorded_in_it() -> None:
    scenario = read(SMALL.replace("> 1 broke", "< routes    select\n> 1 broke"))
    assert scenario.stimuli == ("begin", "1 broke")
    assert scenario.rules == ("R2.2",)
    assert scenario.transports == ["http"]
    assert scenario.head["binding"] == "stateless"


@pytest.mark.parametrize(
    "text",
    [
        SMALL.partition("\n>")[0],
        SMALL.replace("rules: R2.2\n", ""),
        SMALL.replace("client", "clint"),
    ],
    ids=["no stimulus", "no rules", "unknown field"],
)
def test_what_is_no_scenario_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"scenario|head"):
        read(text)


def test_a_stimulus_that_nobody_understands_is_refused() -> None:
    scenario = read(SMALL.replace("> 1 broke", "> 3 broke"))
    with pytest.raises(ValueError, match="3 broke"):
        recorded(scenario)


def test_words_that_no_upstream_says_are_refused() -> None:
    with pytest.raises(ValueError, match="shouted"):
        event(1, "shouted response.created")


def test_where_the_transports_differ_both_are_said() -> None:
    scenario = read(SMALL.replace("client: http\n", ""))
    same, http, websocket = ["client    a", "log  b"], ["client    c"], ["client    d"]
    text = write(scenario, {"http": [[], same + http], "websocket": [[], same + websocket]})
    assert text.splitlines()[-5:] == [
        "> 1 broke",
        "< client    a",
        "< log  b",
        "<h client    c",
        "<w client    d",
    ]


def test_a_changed_recording_is_seen() -> None:
    scenario = read(SMALL)
    assert write(scenario, recorded(scenario)) != SMALL


def test_ticks_come_when_they_are_due() -> None:
    scenario = read(SMALL.replace("> 1 broke", "> +26s tick"))
    assert play(scenario, Bare(scenario, "http"))[1] == [
        "clock     10s",
        "client    200, early",
        "clock     25s",
        "client    comment",
    ]


def test_frames_say_what_their_words_say() -> None:
    created, text = frames("lifecycle response.created of 90 bytes + output x 7 bytes of text")
    assert (created.kind, len(created.block)) == (Kind.LIFECYCLE, 90)
    assert created.note is not None
    assert created.note.response_id == "resp_1"
    assert (text.kind, text.text_bytes, text.note) == (Kind.OUTPUT, 7, None)
    (failed,) = frames("failed server_error 10 in, 7 out marked final")
    assert failed.note is not None
    assert (failed.note.code, failed.note.retryable) == ("server_error", False)
    assert (failed.note.metered, failed.note.usage) == (True, Usage(10, 7))
    (queued,) = frames("lifecycle response.created with status queued")
    assert queued.note is not None
    assert queued.note.status == "queued"


def test_a_route_has_the_clocks_that_its_marks_say() -> None:
    head = {"routes": "a:hold=3:first=4:idle=5 b", "binding": "stateless"}
    first, second = place(head, None), place(head, "a")
    assert first is not None
    assert second is not None
    assert (first.hold_seconds, first.first_event_timeout_seconds) == (3, 4)
    assert (first.idle_timeout_seconds, second.idle_timeout_seconds) == (5, 300)


@pytest.mark.parametrize(
    ("routes", "kindred"),
    [("a b", False), ("a:origin=x b", False), ("a:origin=x b:origin=y", False),
     ("a:origin=x b:origin=x", True)],
)  # fmt: skip
def test_encrypted_items_are_read_where_the_same_origin_is_named(
    routes: str, kindred: bool
) -> None:
    first = place({"routes": routes, "binding": "origin_bound, encrypted"}, None)
    assert first is not None
    assert first.kindred is kindred
