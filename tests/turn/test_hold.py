"""What is held back: in order, within its bound, and gone once."""

from __future__ import annotations

import pytest

from latchway.turn.hold import Hold
from latchway.wire.frame import Kind
from turn.made import CREATED, PING, PROGRESS, frame


def test_what_was_kept_comes_out_in_order_and_once() -> None:
    hold = Hold(limit_bytes=100)
    for each in (PING, CREATED, PROGRESS):
        hold.keep(each, now=1.0)
    assert hold.release() == (PING, CREATED, PROGRESS)
    assert hold.release() == ()
    assert (hold.size_bytes, hold.since) == (0, None)


def test_the_first_lifecycle_event_starts_it() -> None:
    hold = Hold(limit_bytes=100)
    hold.keep(PING, now=1.0)
    assert hold.only_neutral
    hold.keep(CREATED, now=2.0)
    hold.keep(PROGRESS, now=3.0)
    assert hold.since == 2.0
    assert not hold.only_neutral


@pytest.mark.parametrize(("size", "fits"), [(90, True), (91, False)])
def test_the_bound_is_kept_to_the_byte(size: int, fits: bool) -> None:
    hold = Hold(limit_bytes=100)
    hold.keep(PING, now=1.0)
    assert hold.fits(frame(Kind.LIFECYCLE, size=size)) is fits


def test_a_frame_that_is_kept_elsewhere_counts() -> None:
    hold = Hold(limit_bytes=15)
    hold.count(PING)
    assert not hold.fits(PING)
    assert hold.release() == ()


def test_what_is_discarded_is_gone() -> None:
    hold = Hold(limit_bytes=10)
    hold.keep(CREATED, now=1.0)
    hold.discard()
    assert hold.fits(CREATED)
    assert hold.release() == ()
