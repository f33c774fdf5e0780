"""What workers say to their supervisor is answered over all of them, and never waits for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.gateway import settings
from latchway.ledger import orders
from latchway.ledger.keys import KeyFault, KeyRow, Keys
from latchway.log.metrics import Metrics
from latchway.log.record import Bill
from latchway.ports import Key, Unavailable
from latchway.workers import figures
from latchway.workers.messages import (
    Answer,
    Ask,
    Failed,
    Hello,
    KeyChange,
    Leaving,
    Message,
    Question,
    Ready,
    Reply,
    Report,
    Reserve,
    Told,
    Welcome,
)
from latchway.workers.office import ASK_SECONDS, KEY_SECONDS, Member, Office
from ledger.parts import opening, record
from log.finishes import finish
from workers.pair import Pair

ALICE = KeyRow(Key("alice", "alice"), "ab", b"d" * 32)
CREATE = orders.CreateKey("alice", "alice", "ab", "cd", 0, False)
REVOKED = replace(ALICE, revoked=True)
REVOKE = orders.RevokeKey("alice")
ROW = {"route": "a", "model": "m", "failures": 0, "set_aside_until": None}
ROUTES = [{**ROW, "state": "ready"}, {**ROW, "route": "b", "state": "ready"}]
WORSE = [{**ROW, "state": "set_aside", "failures": 5}, {**ROW, "route": "b", "state": "ready"}]


class Written:
    """The writer, as far as an office needs one. `said`: what it answers the next order."""

    def __init__(self) -> None:
        self.keys = Keys()
        self.healthy = True
        self.records: dict[str, Any] = {}
        self.epochs: list[str] = []
        self.ended: list[int] = []
        self.fault: Unavailable | None = None
        self.said: orders.Outcome = None
        self.jobs: list[Any] = []
        self.waiting: list[Callable[[Any], None]] | None = None
        """Who waits for an epoch, if they must."""

    def begin_epoch(self, served_by: str, done: Callable[[Any], None]) -> None:
        self.epochs.append(served_by)
        if self.waiting is not None:
            self.waiting.append(done)
        else:
            done(self.fault or len(self.epochs))

    def end_epoch(self, epoch: int) -> None:
        self.ended.append(epoch)

    def order(self, order: orders.Order, done: orders.Done, late: orders.Done) -> None:
        done(self.said)
        self.late = late

    def find(self, about: str) -> Any:
        return self.records.get(about)

    def submit(self, job: Any) -> None:
        self.jobs.append(job)


class Hand:
    """A worker that a test plays: `says`, and what it `heard`. `deaf`: it answers nothing."""

    def __init__(self, bench: Bench, pid: int) -> None:
        self.pair = Pair()
        self.pair.clock.advance()
        self.member = Member(self.pair.supervisor.link)
        self.killed = self.deaf = False
        self.report: Report | None = None
        self._bench = bench
        self.member.kill = self._kill
        link = self.pair.supervisor.link
        link.heard = lambda message: bench.office.hear(self.member, message)
        link.lost = lambda: bench.office.lost(self.member)
        self.says(Hello(pid))

    def _kill(self) -> None:
        self.killed = True

    @property
    def heard(self) -> list[Any]:
        self.pair.clock.advance()
        return self.pair.worker.heard

    def says(self, message: Message) -> None:
        self.pair.worker.link.send(message)
        self.pair.clock.advance()

    def works(self) -> None:
        """Answer what is asked of it."""
        for message in self.taken(Ask, KeyChange):
            if not self.deaf:
                if isinstance(message, Ask) and message.report and self.report is not None:
                    self.says(self.report)
                self.says(Told(message.number))

    def taken(self, *kinds: type[Message]) -> list[Any]:
        """What it has heard of these kinds, once."""
        taken = [message for message in self.heard if isinstance(message, kinds)]
        self.heard[:] = [message for message in self.heard if not isinstance(message, kinds)]
        return taken


class Bench:
    """An office with workers; `done`: what orders were told."""

    def __init__(self, workers: int = 0) -> None:
        self.clock = Pair().clock
        self.writer = Written()
        writer: Any = self.writer
        self.office = Office(settings(), writer, self.clock, "settle:kill")
        self.hands = [self.hand(pid) for pid in range(1, workers + 1)]
        self.done: list[Any] = []

    def hand(self, pid: int) -> Hand:
        """One that serves."""
        hand = Hand(self, pid)
        hand.says(Ready())
        hand.pair.worker.heard.clear()
        return hand

    def question(self, what: str, about: str = "") -> Callable[[], list[Any]]:
        """Asked by the first worker; what it is replied, once all have answered who do."""
        self.hands[0].says(Question(9, what, about))

        def replied() -> list[Any]:
            self.work()
            return [reply.value for reply in self.hands[0].taken(Reply)]

        return replied

    def order(self, order: orders.Order) -> None:
        self.office.order(order, self.done.append)

    def work(self) -> None:
        for hand in self.hands:
            hand.works()


def value(text: bytes, name: str) -> float:
    (line,) = (line for line in text.decode().splitlines() if line.startswith(name + " "))
    return float(line.rpartition(" ")[2])


def reported(sockets: int, routes: list[dict[str, Any]] = ROUTES, held: int = 0) -> Report:
    metrics = Metrics(("m",), ("a", "b"))
    for _ in range(sockets):
        metrics.socket_opened()
    for _ in range(held):
        metrics.turn_opened("http")
        metrics.turn_ended(finish(released_by_timer=True), Bill(), model="m", transport="http")
    return Report(figures.families(metrics.registry), routes)


# ---- members


def test_a_worker_is_welcomed_in_an_epoch_of_its_own() -> None:
    bench = Bench()
    bench.writer.keys.put(ALICE)
    hands = [Hand(bench, pid) for pid in (7, 8)]
    assert [each.rpartition("/")[2] for each in bench.writer.epochs] == ["7", "8"]
    for hand in hands:
        (welcome,) = hand.heard
        assert isinstance(welcome, Welcome)
        assert (welcome.keys, welcome.failpoint) == ([ALICE], "settle:kill")
    hands[1].says(Reserve(1, opening()))
    (job,) = bench.writer.jobs
    assert job.epoch == 2
    job.done(Unavailable("no disk"))
    assert hands[1].heard[-1] == Answer(1, "no disk")


def test_one_that_cannot_have_an_epoch_is_ended() -> None:
    bench = Bench()
    bench.writer.fault = Unavailable("no disk")
    hand = Hand(bench, 7)
    assert (hand.heard, hand.killed, hand.member.reason) == ([], True, "no disk")
    hand.says(Reserve(1, opening()))
    hand.pair.part()
    assert (bench.writer.jobs, bench.writer.ended) == ([], [])


def test_one_that_is_gone_ends_its_epoch() -> None:
    bench = Bench(2)
    bench.hands[0].pair.part()
    assert bench.writer.ended == [1]


def test_one_that_died_before_its_epoch_was_there_ends_it_too() -> None:
    bench = Bench()
    bench.writer.waiting = []
    hand = Hand(bench, 7)
    hand.pair.part()
    bench.writer.waiting[0](5)
    assert bench.writer.ended == [5]
    bench.order(CREATE)
    assert bench.done == [None], "it is not waited for"


def test_what_the_crew_is_told() -> None:
    bench = Bench()
    told: list[tuple[str, Member]] = []
    bench.office.ready = lambda member: told.append(("ready", member))
    bench.office.leaving = lambda member: told.append(("leaving", member))
    hand = bench.hand(7)
    hand.says(Leaving())
    hand.says(Failed("no file"))
    assert told == [("ready", hand.member), ("leaving", hand.member)]
    assert (hand.member.ready, hand.member.leaving) == (True, True)
    assert hand.member.reason == "no file"


# ---- keys


def test_a_key_holds_everywhere_before_the_command_is_told() -> None:
    bench = Bench(2)
    bench.writer.said = ALICE
    bench.order(CREATE)
    assert [hand.heard for hand in bench.hands] == [[KeyChange(1, ALICE)]] * 2
    bench.hands[0].works()
    assert bench.done == []
    bench.hands[1].works()
    assert bench.done == [ALICE]
    bench.writer.said = REVOKED
    bench.order(REVOKE)
    assert bench.hands[0].heard == [KeyChange(2, REVOKED)]
    bench.work()
    assert bench.done == [ALICE, REVOKED]
    bench.clock.advance(60.0)
    assert [hand.killed for hand in bench.hands] == [False, False]


@pytest.mark.parametrize(("order", "row"), [(CREATE, ALICE), (REVOKE, REVOKED)])
def test_what_nobody_waits_for_any_more_holds_everywhere_too(
    order: orders.Order, row: KeyRow
) -> None:
    bench, late = Bench(2), Unavailable("the database did not answer in time")
    bench.writer.said = late
    bench.order(order)
    assert (bench.done, bench.hands[0].heard) == ([late], [])
    bench.writer.late(row)
    assert [hand.heard for hand in bench.hands] == [[KeyChange(1, row)]] * 2
    bench.hands[0].works()
    bench.clock.advance(KEY_SECONDS)
    assert [hand.killed for hand in bench.hands] == [False, True]
    assert bench.done == [late], "it was told"


def test_one_that_does_not_take_it_over_is_ended() -> None:
    bench = Bench(2)
    bench.hands[1].deaf = True
    bench.writer.said = ALICE
    bench.order(CREATE)
    bench.work()
    bench.clock.advance(KEY_SECONDS)
    assert bench.done == [ALICE]
    assert [hand.killed for hand in bench.hands] == [False, True]


def test_one_that_dies_meanwhile_is_not_waited_for() -> None:
    bench = Bench(2)
    bench.writer.said = ALICE
    bench.order(CREATE)
    bench.hands[0].works()
    bench.hands[1].pair.part()
    assert bench.done == [ALICE]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (CREATE, KeyFault("taken")),
        (orders.RevokeKey("bob"), KeyFault("no such key")),
        (orders.CreditKey("alice", 5), None),
    ],
)
def test_what_changes_no_key_asks_nobody(order: orders.Order, said: KeyFault | None) -> None:
    bench = Bench(1)
    bench.writer.said = said
    bench.order(order)
    assert bench.done == [said]
    assert bench.hands[0].heard == []


# ---- questions


def test_whether_it_is_healthy() -> None:
    bench = Bench(1)
    assert bench.question("healthy")() == [True]
    bench.writer.healthy = False
    assert bench.question("healthy")() == [False]


def test_a_record_is_found_at_once_or_behind_what_all_have_to_say() -> None:
    bench = Bench(2)
    bench.writer.records["req_1"] = record()
    assert bench.question("find", "req_1")() == [record()]
    replied = bench.question("find", "req_2")
    assert bench.hands[0].taken(Reply) == []
    bench.writer.records["req_2"] = record("req_2")
    assert replied() == [record("req_2")]
    assert bench.question("find", "req_3")() == [None]


def test_figures_are_those_of_all() -> None:
    bench = Bench(2)
    bench.hands[0].report = reported(sockets=1, held=2)
    bench.hands[1].report = reported(sockets=3, routes=WORSE, held=4)
    (text,) = bench.question("metrics")()
    assert value(text, "latchway_open_sockets") == 4
    assert value(text, "latchway_hold_released_by_timer_total") == 6
    assert value(text, 'latchway_route_state{route="a",state="set_aside"}') == 1
    assert value(text, 'latchway_route_state{route="a",state="ready"}') == 0
    assert value(text, 'latchway_route_state{route="b",state="ready"}') == 1
    assert bench.question("routes")() == [WORSE]


def test_a_worker_that_is_late_is_passed_over_with_what_it_said_last() -> None:
    bench = Bench(2)
    bench.hands[0].report = reported(sockets=1)
    bench.hands[1].says(reported(sockets=5, held=5))
    bench.hands[1].deaf = True
    replied = bench.question("metrics")
    assert replied() == []
    bench.clock.advance(ASK_SECONDS)
    (text,) = replied()
    assert value(text, "latchway_open_sockets") == 6
    assert value(text, "latchway_hold_released_by_timer_total") == 5


def test_what_a_worker_had_counted_stays_when_it_is_gone() -> None:
    bench = Bench(3)
    bench.hands[0].report = reported(sockets=0)
    for hand in bench.hands[1:]:
        hand.says(reported(sockets=5, held=5))
        hand.pair.part()
    (text,) = bench.question("metrics")()
    assert value(text, "latchway_hold_released_by_timer_total") == 10
    assert value(text, "latchway_open_sockets") == 0
