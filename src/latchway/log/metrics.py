"""The figures of `GET /metrics`, told once for each turn, when it has ended.

Nothing here runs for an event of a stream. Labels come from closed sets: a model or a route that
the configuration does not name is counted as `other`, so that no client can make new series.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    generate_latest,
)

from latchway.log.families import Family, Histogram
from latchway.log.record import Bill
from latchway.turn.commands import AttemptRecord, Finish

CONTENT_TYPE = CONTENT_TYPE_LATEST

TRANSPORTS = frozenset({"http", "websocket"})
OUTCOMES = frozenset({"completed", "incomplete", "failed", "client_disconnected"})
FAILURES = frozenset({
    "none", "retryable_event", "read_error", "first_event_timeout", "idle_timeout",
    "buffer_overflow", "client_disconnected", "deterministic", "route_refused", "gateway_stopped",
})  # fmt: skip
PHASES = frozenset({"before_first_event", "before_output", "after_output"})
REPLAY_RULES = frozenset({"R2.1", "R2.2"})
VERDICTS = frozenset({
    "client_gone", "output_delivered", "lifecycle_delivered", "stored", "continuation",
    "origin_bound", "already_replayed", "usage_seen", "failure_final", "acting_tools",
    "budget_spent", "no_route",
})  # fmt: skip
TOKEN_CLASSES = ("input", "cached_input", "cache_write", "output", "reasoning")
LOSS_REASONS = frozenset(
    {"failed_attempt", "above_reservation", "upstream_broke", "client_left", "gateway_stopped"}
)
ROUTE_STATES = ("ready", "set_aside", "disabled")

OVERHEAD_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)
"""Around a commit of the ledger, which is most of it."""
OUTPUT_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0)
"""Around a model's time to its first token; the last is twice the default first-event timeout."""
HELD_SECONDS = (0.01, 0.05, 0.25, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
"""Up to the default limit of a hold."""

NANO = 1e9
"""nano-USD in a USD."""


class Metrics:
    """All families, in a registry of their own. `models`, `routes`: the configured names."""

    def __init__(self, models: Iterable[str], routes: Iterable[str]) -> None:
        self.registry = CollectorRegistry()
        self._make_turn_families(frozenset(models), frozenset(routes))
        self._make_plain_families()

    def turn_opened(self, transport: str) -> None:
        self._open_turns.add(1, transport)

    def turn_ended(self, finish: Finish, bill: Bill, *, model: str, transport: str) -> None:
        """Count a turn that `turn_opened` was told of."""
        self._open_turns.add(-1, transport)
        self._turns.add(1, model, transport, finish.outcome)
        if finish.phase is not None:
            self._failures.add(1, finish.phase, transport)
        for attempt in finish.attempts:
            self._count_attempt(attempt)
        self._observe_times(finish)
        self._count_money(bill, model)

    def socket_opened(self) -> None:
        self._open_sockets.add(1)

    def socket_closed(self) -> None:
        self._open_sockets.add(-1)

    def route_states(self, states: Iterable[tuple[str, str]]) -> None:
        """Each route with its state, told before a `render`."""
        for route, state in states:
            for each in ROUTE_STATES:
                self._route_state.put(float(each == state), route, each)

    def render(self) -> bytes:
        """The text that Prometheus reads; its content type is `CONTENT_TYPE`."""
        return generate_latest(self.registry)

    def _count_attempt(self, attempt: AttemptRecord) -> None:
        self._attempts.add(1, attempt.route, attempt.outcome, attempt.failure or "none")
        if attempt.verdict == "replay":
            self._replays.add(1, attempt.route, attempt.rule or "")
        elif attempt.verdict is not None:
            self._refused.add(1, attempt.verdict)

    def _observe_times(self, finish: Finish) -> None:
        if finish.attempts:
            self._overhead.observe(finish.attempts[0].began - finish.began)
        if finish.first_output is not None:
            self._first_output.observe(finish.first_output - finish.began)
        if finish.held_seconds > 0:
            self._held.observe(finish.held_seconds)
        if finish.released_by_timer:
            self._released_by_timer.add(1)

    def _count_money(self, bill: Bill, model: str) -> None:
        self._charged.add(bill.charged / NANO)
        self._refunded.add((bill.reserved - bill.charged) / NANO)
        if bill.loss:
            self._loss.add(bill.loss / NANO, bill.loss_reason or "")
        for name, count in zip(TOKEN_CLASSES, _classes(bill), strict=False):
            self._tokens.add(count, model, name)

    def _make_turn_families(self, models: frozenset[str], routes: frozenset[str]) -> None:
        counter = self._counter
        self._turns = counter(
            "turns", "turns that ended", model=models, transport=TRANSPORTS, outcome=OUTCOMES
        )
        self._attempts = counter(
            "attempts", "attempts that ended", route=routes, outcome=OUTCOMES, failure=FAILURES
        )
        self._failures = counter("failures", "failed turns", phase=PHASES, transport=TRANSPORTS)
        self._replays = counter(
            "replays", "replays, by the route that failed", route=routes, rule=REPLAY_RULES
        )
        self._refused = counter("replay_refused", "failures not replayed", verdict=VERDICTS)
        classes = frozenset(TOKEN_CLASSES)
        self._tokens = counter("tokens", "tokens charged", model=models, **{"class": classes})
        self._loss = counter("operator_loss_usd", "borne by the operator", reason=LOSS_REASONS)
        self._open_turns = Family(
            "gauge", "open_turns", "turns in flight", self.registry, {"transport": TRANSPORTS}
        )
        states = {"route": routes, "state": frozenset(ROUTE_STATES)}
        self._route_state = Family("gauge", "route_state", "1: so it is", self.registry, states)

    def _make_plain_families(self) -> None:
        self._held = self._histogram(
            "held_seconds", "how long lifecycle events were held", HELD_SECONDS
        )
        self._first_output = self._histogram(
            "time_to_first_output_seconds", "arrival of the request to output", OUTPUT_SECONDS
        )
        self._overhead = self._histogram(
            "overhead_seconds", "arrival of the request to the first call", OVERHEAD_SECONDS
        )
        self._released_by_timer = self._counter(
            "hold_released_by_timer", "holds that reached their limit"
        )
        self._charged = self._counter("charged_usd", "charged to keys")
        self._refunded = self._counter("refunded_usd", "reserved and returned")
        self._open_sockets = Family(
            "gauge", "open_sockets", "WebSocket connections", self.registry, {}
        )

    def _counter(self, name: str, help_text: str, **labels: frozenset[str]) -> Family:
        return Family("counter", name, help_text, self.registry, labels)

    def _histogram(self, name: str, help_text: str, bounds: Sequence[float]) -> Histogram:
        return Histogram(name, help_text, bounds, self.registry)


def _classes(bill: Bill) -> tuple[int, ...]:
    """Tokens by class of price, each counted once; empty if nothing was charged by tokens."""
    usage = bill.usage
    if usage is None:
        return ()
    cached, written = usage.get("cached_tokens", 0), usage.get("cache_write_tokens", 0)
    reasoning = usage.get("reasoning_tokens", 0)
    rest_in = usage["input_tokens"] - cached - written
    return rest_in, cached, written, usage["output_tokens"] - reasoning, reasoning
