"""The limits keep the order that their reasons name."""

from __future__ import annotations

from dataclasses import fields

from latchway.upstreams.limits import Limits

LIMITS = Limits()
SERVERS_CLOSE_AFTER_SECONDS = 5.0


def test_every_limit_bounds_something() -> None:
    assert all(getattr(LIMITS, field.name) > 0 for field in fields(Limits))


def test_a_connection_is_given_up_before_a_common_server_closes_it() -> None:
    assert LIMITS.idle_seconds < SERVERS_CLOSE_AFTER_SECONDS
    assert LIMITS.idle_margin_seconds < LIMITS.idle_seconds


def test_a_refusal_is_told_before_a_first_event_timeout_would_come() -> None:
    """The shortest that makes sense is some seconds; the default is 60 s."""
    assert LIMITS.answer_seconds < 60.0
