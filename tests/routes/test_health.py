"""A route that fails in a row is set aside, tried once, and comes back by a result (R10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.routes.health import COUNTED_RULES, HEALTHY, LONGEST_ASIDE_SECONDS, Health
from latchway.settings import HealthSettings

DEFAULT = HealthSettings()


def after(*rules: str | None, now: float = 0.0, health: Health = HEALTHY) -> Health:
    for rule in rules:
        health = health.ended(rule, now, DEFAULT)
    return health


ASIDE = after(*["R2.2"] * 5)
"""Set aside at 0, until 30."""


@pytest.mark.parametrize("rule", ["R2.1", "R2.2", "R2.6"])
def test_five_in_a_row_set_it_aside_for_thirty_seconds(rule: str) -> None:
    assert not after(*[rule] * 4).is_aside(0.0)
    aside = after(*[rule] * 5)
    assert aside.is_aside(29.9)
    assert not aside.is_aside(30.0)


@pytest.mark.parametrize("rule", ["R2.4", "R2.7", "R2.8", "R2.9", "R2.12", "R2.15", "R2.17"])
def test_other_failures_neither_count_nor_end_the_row(rule: str) -> None:
    assert after(*[rule] * 9) == HEALTHY
    assert after(*["R2.1"] * 4, rule, "R2.1").is_aside(0.0)


def test_a_result_ends_the_row() -> None:
    assert not after(*["R2.1"] * 4, None, *["R2.1"] * 4).is_aside(0.0)


def test_a_result_while_aside_brings_it_back() -> None:
    assert after(None, health=ASIDE) == HEALTHY


def test_late_failures_of_older_attempts_do_not_prolong_it() -> None:
    late = after(*["R2.2"] * 20, now=1.0, health=ASIDE)
    assert (late.aside_until, late.failures) == (30.0, 25)


def test_the_first_turn_after_it_tries_the_route_and_the_others_do_not() -> None:
    assert ASIDE.chosen(29.9) == ASIDE
    tried = ASIDE.chosen(30.0)
    assert tried.tried
    assert tried.is_aside(30.0)


def test_a_try_that_fails_sets_it_aside_for_twice_as_long_up_to_two_minutes() -> None:
    health, now, lengths = ASIDE, 30.0, []
    for _ in range(4):
        health = after("R2.6", now=now, health=health.chosen(now))
        assert health.aside_until is not None
        lengths.append(health.aside_until - now)
        now = health.aside_until
    assert lengths == [60.0, 120.0, 120.0, 120.0]


def test_a_try_that_brings_a_result_is_the_end_of_it() -> None:
    assert after(None, now=31.0, health=ASIDE.chosen(30.0)) == HEALTHY


def test_a_try_that_tells_nothing_is_followed_by_another() -> None:
    tried = after("R2.8", now=31.0, health=ASIDE.chosen(30.0))
    assert tried.is_aside(59.9)
    assert tried.chosen(60.0).aside_until == 90.0


def test_a_longer_first_time_than_two_minutes_stays() -> None:
    settings = HealthSettings(failures=1, set_aside_seconds=300.0)
    health = HEALTHY.ended("R2.1", 0.0, settings).chosen(300.0).ended("R2.1", 300.0, settings)
    assert health.aside_until == 600.0


RULES = st.sampled_from([None, *sorted(COUNTED_RULES), "R2.9", "chosen"])


@given(st.lists(st.tuples(RULES, st.floats(0, 200)), max_size=60))
def test_what_holds_at_any_moment(steps: list[tuple[str | None, float]]) -> None:
    health, now, row = HEALTHY, 0.0, 0
    for rule, pause in steps:
        now += pause
        health = health.chosen(now) if rule == "chosen" else health.ended(rule, now, DEFAULT)
        row = 0 if rule is None else row + (rule in COUNTED_RULES)
        assert health.failures == row
        assert (health.aside_until is not None) == (row >= DEFAULT.failures)
        assert health.aside_until is None or health.aside_until <= now + LONGEST_ASIDE_SECONDS
        assert rule is not None or health == HEALTHY
