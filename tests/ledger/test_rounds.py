"""One round's jobs go over together; what nobody waits for goes with them, or alone, but soon."""

from __future__ import annotations

import asyncio

import pytest

from latchway.ledger import rounds
from latchway.ledger.rounds import Rounds
from ledger.writers import run, until


class Bench:
    """`given`: what was handed over, a list each time."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []
        self.rounds: Rounds[str] = Rounds(asyncio.get_running_loop(), self.given.append)

    async def gives(self, *lists: list[str]) -> None:
        await until(lambda: len(self.given) >= len(lists))
        assert self.given == [*lists]


def test_what_a_round_asks_for_goes_over_at_once() -> None:
    async def body() -> None:
        bench = Bench()
        for name in "abc":
            bench.rounds.put(name)
        assert bench.given == [], "the round is not over"
        await bench.gives(["a", "b", "c"])
        bench.rounds.put("d")
        await bench.gives(["a", "b", "c"], ["d"])

    run(body)


def test_what_nobody_waits_for_goes_with_the_next_in_its_order() -> None:
    async def body() -> None:
        bench = Bench()
        bench.rounds.put("a")
        bench.rounds.ride("b")
        await bench.gives(["a", "b"])
        bench.rounds.ride("c")
        bench.rounds.put("d")
        await bench.gives(["a", "b"], ["c", "d"])

    run(body)


def test_it_goes_alone_if_there_is_no_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "RIDE_SECONDS", 0.001)

    async def body() -> None:
        bench = Bench()
        bench.rounds.ride("a")
        bench.rounds.ride("b")
        await bench.gives(["a", "b"])
        bench.rounds.ride("c")
        await bench.gives(["a", "b"], ["c"])

    run(body)


def test_a_ride_that_is_long_over_hands_over_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "RIDE_SECONDS", 0.0)

    async def body() -> None:
        bench, rang = Bench(), asyncio.Event()
        bench.rounds.ride("a")
        bench.rounds.end()
        asyncio.get_running_loop().call_later(0.0, rang.set)
        await rang.wait()
        assert bench.given == [["a"]]

    run(body)


def test_stopping_hands_over_the_rest() -> None:
    async def body() -> None:
        bench = Bench()
        bench.rounds.stop()
        assert bench.given == []
        bench.rounds.ride("a")
        bench.rounds.put("b")
        bench.rounds.stop()
        assert bench.given == [["a", "b"]]
        await until(lambda: True)
        assert bench.given == [["a", "b"]]

    run(body)
