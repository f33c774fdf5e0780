"""What `/metrics` shows after turns have ended."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from latchway.log.metrics import (
    FAILURES,
    OUTCOMES,
    PHASES,
    ROUTE_STATES,
    TOKEN_CLASSES,
    VERDICTS,
    Metrics,
)
from latchway.log.record import Bill
from latchway.turn import failures
from latchway.turn.decide import Verdict
from latchway.values import replace
from log.finishes import FAILED, REPLAYED, finish

PAID = Bill(
    reserved=500_000_000,
    charged=100_000,
    usage={
        "input_tokens": 100,
        "cached_tokens": 30,
        "cache_write_tokens": 20,
        "output_tokens": 50,
        "reasoning_tokens": 40,
    },
)

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(["m"], ["primary/m", "backup/m"])


def samples(metrics: Metrics) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return samples(metrics).get((f"latchway_{name}", tuple(sorted(labels.items()))))


def test_a_replayed_turn_counts_once_and_its_attempts_each(metrics: Metrics) -> None:
    metrics.turn_opened("http")
    metrics.turn_ended(REPLAYED, PAID, model="m", transport="http")

    assert value(metrics, "turns_total", model="m", transport="http", outcome="completed") == 1
    failed = {"route": "primary/m", "outcome": "failed", "failure": "retryable_event"}
    served = {"route": "backup/m", "outcome": "completed", "failure": "none"}
    assert value(metrics, "attempts_total", **failed) == 1
    assert value(metrics, "attempts_total", **served) == 1
    assert value(metrics, "replays_total", route="primary/m", rule="R2.1") == 1
    assert not [key for key in samples(metrics) if key[0] == "latchway_replay_refused_total"]


def test_a_failure_that_was_not_replayed_counts_by_verdict_and_phase(metrics: Metrics) -> None:
    refused = replace(FAILED, verdict="stored")
    metrics.turn_opened("websocket")
    metrics.turn_ended(
        finish(refused, outcome="failed", phase="before_output"),
        Bill(),
        model="m",
        transport="websocket",
    )

    assert value(metrics, "failures_total", phase="before_output", transport="websocket") == 1
    assert value(metrics, "replay_refused_total", verdict="stored") == 1
    assert not [key for key in samples(metrics) if key[0] == "latchway_replays_total"]


def test_tokens_are_counted_by_the_class_they_are_priced_in(metrics: Metrics) -> None:
    metrics.turn_opened("http")
    metrics.turn_ended(REPLAYED, PAID, model="m", transport="http")

    counts = [value(metrics, "tokens_total", model="m", **{"class": n}) for n in TOKEN_CLASSES]
    assert counts == [50, 30, 20, 10, 40]


def test_money_is_in_dollars(metrics: Metrics) -> None:
    metrics.turn_opened("http")
    bill = Bill(reserved=3_000_000_000, charged=1_000_000_000, loss=500_000_000)
    metrics.turn_ended(REPLAYED, bill, model="m", transport="http")

    assert value(metrics, "charged_usd_total") == 1.0
    assert value(metrics, "refunded_usd_total") == 2.0
    assert value(metrics, "operator_loss_usd_total", reason="other") == 0.5


def test_times_are_observed_once_for_each_turn(metrics: Metrics) -> None:
    metrics.turn_opened("http")
    held = finish(FAILED, held_seconds=9.5, released_by_timer=True)
    metrics.turn_ended(held, PAID, model="m", transport="http")

    assert value(metrics, "overhead_seconds_sum") == pytest.approx(0.001)
    assert value(metrics, "time_to_first_output_seconds_sum") == pytest.approx(0.412)
    assert value(metrics, "held_seconds_sum") == 9.5
    assert value(metrics, "hold_released_by_timer_total") == 1


def test_a_turn_without_a_call_has_no_overhead_and_no_output(metrics: Metrics) -> None:
    metrics.turn_opened("http")
    metrics.turn_ended(finish(first_output=None), Bill(), model="?", transport="http")

    assert value(metrics, "overhead_seconds_count") == 0
    assert value(metrics, "time_to_first_output_seconds_count") == 0
    assert value(metrics, "held_seconds_count") == 0
    assert value(metrics, "turns_total", model="other", transport="http", outcome="completed") == 1


def test_what_is_open_goes_up_and_down(metrics: Metrics) -> None:
    metrics.socket_opened()
    metrics.socket_opened()
    metrics.turn_opened("websocket")
    assert value(metrics, "open_sockets") == 2
    assert value(metrics, "open_turns", transport="websocket") == 1

    metrics.socket_closed()
    metrics.turn_ended(REPLAYED, PAID, model="m", transport="websocket")
    assert value(metrics, "open_sockets") == 1
    assert value(metrics, "open_turns", transport="websocket") == 0


def test_a_route_has_one_state_at_a_time(metrics: Metrics) -> None:
    metrics.route_states([("primary/m", "ready")])
    metrics.route_states([("primary/m", "set_aside")])

    states = {s: value(metrics, "route_state", route="primary/m", state=s) for s in ROUTE_STATES}
    assert states == {"ready": 0, "set_aside": 1, "disabled": 0}


def test_two_registries_do_not_meet() -> None:
    Metrics(["m"], []).socket_opened()

    assert value(Metrics(["m"], []), "open_sockets") == 0


def test_the_sets_of_labels_are_those_of_the_rule() -> None:
    rows = [row for row in vars(failures).values() if isinstance(row, failures.Failure)]
    assert {row.name for row in rows} == FAILURES - {"none"}
    assert {verdict.value for verdict in Verdict} - {"replay"} == VERDICTS
    assert len(OUTCOMES) == 4
    assert len(PHASES) == 3
