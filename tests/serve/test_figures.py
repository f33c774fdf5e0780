"""What `/metrics` and `/admin/routes` show of a process that serves alone."""

from __future__ import annotations

from harness.gateway import Gateway


def test_routes_and_their_states_are_this_processs_own() -> None:
    gateway = Gateway()
    for _ in range(5):
        gateway.app.ports.routes.attempt_ended("a", "R2.1", gateway.clock.time())
    states = {row["route"]: row["state"] for row in gateway.app.figures.routes()}
    assert states == {"a": "set_aside", "b": "ready"}
    text = gateway.app.figures.metrics().decode()
    assert 'latchway_route_state{route="a",state="set_aside"} 1.0' in text
    assert 'latchway_route_state{route="b",state="ready"} 1.0' in text


def test_turns_are_counted() -> None:
    gateway = Gateway()
    gateway.ask()
    gateway.finish()
    assert 'outcome="completed",transport="http"} 1.0' in gateway.app.figures.metrics().decode()
