"""One write for a round, every message once and in order, and the end behind the last of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from latchway.workers.messages import Ask, Drain, Hello, Ready, Told
from workers.pair import Pair


def test_a_round_is_one_write_in_both_directions() -> None:
    pair = Pair()
    for number in range(3):
        pair.worker.link.send(Told(number))
        pair.supervisor.link.send(Ask(number, False))
    pair.clock.advance()
    assert pair.supervisor.heard == [Told(0), Told(1), Told(2)]
    assert pair.worker.heard == [Ask(0, False), Ask(1, False), Ask(2, False)]
    assert len(pair.worker.wire.writes) == len(pair.supervisor.wire.writes) == 1
    pair.worker.link.send(Told(3))
    pair.clock.advance()
    assert len(pair.worker.wire.writes) == 2


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 8, 13])
def test_however_it_is_cut(cut: int) -> None:
    pair = Pair()
    pair.worker.wire.cut = cut
    for number in (1, 2):
        pair.worker.link.send(Hello(number))
        pair.clock.advance()
    assert pair.supervisor.heard == [Hello(1), Hello(2)]


def test_what_is_said_before_there_is_a_connection_is_not_lost() -> None:
    pair = Pair(connected=False)
    pair.worker.link.send(Ready())
    pair.clock.advance()
    assert not pair.worker.link.open
    pair.worker.connect()
    pair.clock.advance()
    assert pair.worker.link.open
    assert pair.supervisor.heard == [Ready()]


def test_one_that_fails_takes_no_other_with_it() -> None:
    pair = Pair()
    heard: list[Any] = []

    def hear(message: Any) -> None:
        heard.append(message)
        assert message != Told(2), "a fault of whoever hears"

    pair.supervisor.link.heard = hear
    for number in range(1, 5):
        pair.worker.link.send(Told(number))
    with pytest.raises(AssertionError):
        pair.clock.advance()
    pair.clock.advance()
    assert heard == [Told(1), Told(2), Told(3), Told(4)]


def test_the_end_is_told_once_behind_the_last_message() -> None:
    pair = Pair()
    pair.worker.link.send(Told(1))
    pair.worker.link.close()
    pair.supervisor.link.lost = lambda: pair.supervisor.heard.append("lost")
    pair.clock.advance()
    assert pair.supervisor.heard == [Told(1), "lost"]
    pair.part()
    assert pair.supervisor.heard == [Told(1), "lost"]
    assert pair.worker.ends == 1


def test_the_end_is_told_though_the_last_message_failed() -> None:
    pair = Pair()

    def hear(message: Any) -> None:
        raise AssertionError

    pair.worker.link.heard = hear
    pair.supervisor.link.send(Drain(False))
    pair.supervisor.link.close()
    with pytest.raises(AssertionError):
        pair.clock.advance()
    pair.clock.advance()
    assert pair.worker.ends == 1


def test_after_the_end_nothing_is_said() -> None:
    pair = Pair()
    pair.part()
    pair.worker.link.send(Ready())
    pair.worker.link.close()
    pair.clock.advance()
    assert (pair.worker.link.open, pair.worker.wire.writes) == (False, [])


def test_between_the_close_and_the_end_nothing_is_said_either() -> None:
    pair = Pair()
    pair.worker.wire.closed = True
    pair.worker.link.send(Ready())
    pair.clock.advance()
    assert pair.supervisor.heard == []


def test_how_much_waits_is_seen() -> None:
    pair = Pair(connected=False)
    assert pair.worker.link.unsent_bytes == 0
    pair.worker.connect()
    pair.worker.wire.unsent = 7
    assert pair.worker.link.unsent_bytes == 7


def test_what_is_no_message_is_a_fault() -> None:
    pair = Pair()
    with pytest.raises(msgspec.MsgspecError):
        pair.worker.link.data_received(b"\0\0\0\1\xc1")
