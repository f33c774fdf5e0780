"""Who made what comes back: by owner, the last known one, and not for ever."""

from __future__ import annotations

from latchway.routes.makers import Makers


def test_the_last_thing_that_is_known_decides() -> None:
    makers = Makers()
    makers.note("team", "a", [b"1"])
    makers.note("team", "b", [b"2", b"3"])
    assert makers.of("team", [b"2", b"1", b"unknown"]) == "a"
    assert makers.of("team", [b"1", b"3"]) == "b"
    assert makers.of("team", [b"unknown"]) is None
    assert makers.of("team", []) is None


def test_another_owners_thing_is_not_known() -> None:
    makers = Makers()
    makers.note("team", "a", [b"1"])
    assert makers.of("others", [b"1"]) is None


def test_the_newest_maker_of_a_thing_stands() -> None:
    makers = Makers()
    makers.note("team", "a", [b"1"])
    makers.note("team", "b", [b"1"])
    assert makers.of("team", [b"1"]) == "b"


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    makers = Makers(known_max=2)
    makers.note("team", "a", [b"1", b"2"])
    assert makers.of("team", [b"1"]) == "a"
    makers.note("team", "a", [b"3"])
    assert [makers.of("team", [mark]) for mark in (b"1", b"2", b"3")] == ["a", None, "a"]
