"""A turn meets the world: one event in, all its commands out, one timer, durable before visible."""

from __future__ import annotations

import pytest

from harness.gateway import COST, Gateway, body, route, settings
from harness.upstreams import completed, created, failed, text


def test_a_late_event_of_a_dropped_attempt_does_nothing() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    first = gateway.call
    first.heads()
    first.sends(created("resp_1"), failed())
    gateway.clock.advance()
    first.after = None
    first.sends(text("late"), completed("resp_1"))
    gateway.call.heads()
    gateway.call.sends(created("resp_2"), text("sound"), completed("resp_2"))
    gateway.clock.advance()

    assert b"late" not in peer.answer.body
    assert peer.answer.events[0]["response"]["id"] == "resp_2"
    assert gateway.ledger.figures() == (COST, 0)


def test_the_first_attempt_is_dropped_before_the_second_is_opened() -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.call.heads()
    gateway.ledger.holds = True
    gateway.call.sends(created(), failed())
    assert gateway.call.after == "dropped"
    gateway.ledger.answer()
    assert len(gateway.upstreams.calls) == 2


@pytest.mark.parametrize(("seconds", "code"), [(59.9, None), (60.1, "first_event_timeout")])
def test_a_clock_that_is_up_ends_the_attempt(seconds: float, code: str | None) -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(seconds)
    assert bool(gateway.app.turns) is (code is None)
    assert code is None or gateway.record["code"] == code


@pytest.mark.parametrize(("seconds", "code"), [(4.9, None), (5.1, "first_event_timeout")])
def test_a_clock_that_starts_may_be_up_before_the_one_that_it_follows(
    seconds: float, code: str | None
) -> None:
    clocks = {"connect_timeout_seconds": 100.0, "first_event_timeout_seconds": 5.0}
    gateway = Gateway(settings(route("a", **clocks)))
    gateway.ask()
    gateway.call.heads()
    gateway.clock.advance(seconds)
    assert bool(gateway.app.turns) is (code is None)
    assert code is None or gateway.record["code"] == code


def test_while_output_streams_the_timer_is_not_set_again_for_each_event() -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.call.heads()
    gateway.call.sends(text())
    before = gateway.clock.pending
    for number in range(100):
        gateway.call.sends(text(number=number))
    assert gateway.clock.pending == before
    gateway.clock.advance(299)
    gateway.call.sends(text())
    gateway.clock.advance(299)
    assert gateway.app.turns
    gateway.clock.advance(2)
    assert gateway.record["code"] == "stream_idle_timeout"


def test_the_idle_clock_rests_while_the_client_is_slow() -> None:
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    peer.post(body())
    gateway.call.heads()
    gateway.call.sends(text("x" * (1 << 20)))
    for _ in range(20):
        gateway.clock.advance(100)
        peer.transport.take(1000)
    assert gateway.app.turns

    peer.transport.take()
    gateway.clock.advance(299)
    assert gateway.app.turns
    gateway.clock.advance(2)
    assert gateway.record["code"] == "stream_idle_timeout"


def test_a_turn_leaves_no_timer() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()
    peer.transport.leave()
    gateway.clock.advance()
    assert gateway.clock.pending == 0


def test_the_second_attempt_is_durable_before_it_is_made() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.ledger.fails.add("replay")
    gateway.call.sends(created(), failed())
    gateway.clock.advance()

    assert len(gateway.upstreams.calls) == 1
    assert (peer.answer.status, peer.answer.code) == (503, "ledger_unavailable")
    assert gateway.ledger.states() == ["void"]


def test_a_result_that_cannot_be_recorded_is_not_delivered() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    gateway.ledger.fails.add("close")
    gateway.call.sends(created(), text(), completed())
    gateway.clock.advance()

    assert "response.completed" not in peer.answer.types
    assert peer.answer.events[-1]["response"]["error"]["code"] == "ledger_unavailable"
    assert gateway.ledger.figures() == (0, 0)


def test_health_is_told_the_failure_s_own_row() -> None:
    """Not the verdict's: a failure that no other route is left for counts all the same (R10)."""
    gateway = Gateway()
    told: list[str | None] = []
    sound = gateway.app.ports.routes.attempt_ended

    def attempt_ended(route: str, rule: str | None, now: float) -> None:
        told.append(rule)
        sound(route, rule, now)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gateway.app.ports.routes, "attempt_ended", attempt_ended)
        gateway.ask()
        for _ in range(2):
            gateway.call.heads()
            gateway.call.sends(created(), failed())
            gateway.clock.advance()
    assert gateway.record["attempts"][1]["rule"] == "R2.3"
    assert told == ["R2.1", "R2.1"]
