"""The rule once more, from what the world saw: a second opinion on every verdict and every bill.

In one sentence: a turn is replayed exactly when its first attempt failed by a retryable failure or
by a break before any event, nothing that shows work has arrived from it, no event was handed to
the client, who is there, nothing ties the request to the route, and another route may take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.events import ERROR, FAILED, NEUTRAL, OUTPUT, TERMINAL, Event, Tokens
from sim.faults import refusal_retryable

if TYPE_CHECKING:
    from latchway.settings import Route
    from sim.cases import Case
    from sim.upstream import Call

ANSWER_SECONDS = 5.0
"""After which a refusal without its body is an answer; the status alone stops the turn's clock."""


@dataclass(frozen=True)
class Ended:
    """How an attempt ended. `exact`: all that had arrived had been read, so nothing else could
    have been said; else only that there is no replay where this says none."""

    failure: str
    rule: str
    verdict: str
    exact: bool


RETRYABLE_EVENT = ("retryable_event", "R2.1", True)
ROUTE_REFUSED = ("route_refused", "R2.1", True)
BEFORE_FIRST = ("read_error", "R2.2", True)
AFTER_FIRST = ("read_error", "R2.12", False)
FIRST_EVENT = ("first_event_timeout", "R2.6", False)
IDLE = ("idle_timeout", "R2.15", False)
OVERFLOW = ("buffer_overflow", "R2.7", False)
FINAL = ("deterministic", "R2.9", False)
GONE = ("client_disconnected", "R2.8", False)
STOPPED = ("gateway_stopped", "R2.17", False)

Failure = tuple[str, str, bool]


def ended(case: Case, call: Call) -> Ended:
    """How the attempt that is being left ended, and what the rule says to that."""
    failure = _failure(case, call)
    return Ended(failure[0], failure[1], verdict(case, call, failure), not call.unread)


# ---- the rule


def verdict(case: Case, call: Call, failure: Failure) -> str:
    """The first line that is true (interface.md, "verdict")."""
    binding, kindred = binding_on(case, case.world.routes[call.route])
    for true, name in (
        (case.gone, "client_gone"),
        (case.handed_output, "output_delivered"),
        (case.handed_lifecycle, "lifecycle_delivered"),
        (binding != "stateless" and not kindred, binding),
        (call.number == 2, "already_replayed"),
        (observed(call), "usage_seen"),
        (not failure[2], "failure_final"),
        (case.acts and failure[1] == "R2.2", "acting_tools"),
        (not case.world.replay_room(), "budget_spent"),
        (not targets(case, call.route), "no_route"),
    ):
        if true:
            return name
    return "replay"


def observed(call: Call) -> bool:
    """Has output, a result or metered usage arrived?"""
    script = call.script
    answered = script.answer is not None and call.arrived >= script.answer_at
    whole = answered and script.answer is not None and script.answer.metered
    return whole or any(event.observed for event in call.events)


def binding_on(case: Case, route: Route) -> tuple[str, bool]:
    """What ties the request to this route, and whether routes of its origin may still share it."""
    asked, world = case.asked, case.world
    omitted = world.settings.turn.store_when_omitted == "provider" and route.store_default
    if asked.store or (asked.store is None and omitted):
        return "stored", False
    if asked.continues is not None:
        return "continuation", False
    if asked.bound or asked.pinned is not None:
        return "origin_bound", False
    if asked.encrypted:
        return "origin_bound", bool(_kin(case, route))
    return "stateless", False


def targets(case: Case, failed: str) -> list[str]:
    """Where a replay could go."""
    routes = case.world.routes
    if binding_on(case, routes[failed])[1]:
        return _kin(case, routes[failed])
    return [
        name
        for name, route in routes.items()
        if name != failed and route.enabled and binding_on(case, route)[0] == "stateless"
    ]


def _kin(case: Case, failed: Route) -> list[str]:
    return [
        name
        for name, route in case.world.routes.items()
        if name != failed.name and route.enabled and route.origin is not None
        and route.origin == failed.origin and not _stored_on(case, route)
    ]  # fmt: skip


def _stored_on(case: Case, route: Route) -> bool:
    omitted = case.world.settings.turn.store_when_omitted == "provider" and route.store_default
    return bool(case.asked.store or (case.asked.store is None and omitted))


# ---- how an attempt ended


def _failure(case: Case, call: Call) -> Failure:
    if case.told in ("ClientGone", "Stop"):
        return _of_leaving(case, call)
    failing = _failing(call.events)
    if call.script.answer is not None and call.arrived >= call.script.head_at > 0:
        found = _of_answer(case, call)
        if found is not None:
            return found
    if _overflows(case, call, failing):
        return OVERFLOW
    if failing is not None:
        return _of_events(call.events, failing)
    return _of_silence(case, call) if not _broken(call) else _of_break(case, call)


def _of_leaving(case: Case, call: Call) -> Failure:
    """The client or the gateway ends it, unless an `error` has done so already, whose second is
    awaited; a stop still counts there for a client that has not got the `error`."""
    failing = _failing(call.events_read)
    if failing is None:
        return GONE if case.told == "ClientGone" else STOPPED
    told = case.told == "ClientGone" or case.handed_error
    return _of_events(call.events_read, failing) if told else STOPPED


def _failing(events: list[Event]) -> int | None:
    """Where the first event stands that ends the attempt."""
    return next((at for at, event in enumerate(events) if event.kind in TERMINAL), None)


def _of_events(events: list[Event], at: int) -> Failure:
    """A failure event, or a pair of which either makes it final."""
    failing = [events[at]]
    if events[at].kind == ERROR:
        rest = [event for event in events[at + 1 :] if event.kind != NEUTRAL]
        failing += [event for event in rest[:1] if event.kind == FAILED]
    return RETRYABLE_EVENT if all(event.retryable for event in failing) else FINAL


def _of_answer(case: Case, call: Call) -> Failure | None:
    """An HTTP answer that is no stream; None: it is not there yet."""
    answer = call.script.answer
    assert answer is not None
    whole = call.arrived >= call.script.answer_at
    if answer.kind == "refusal":
        return _of_refusal(case, call, whole)
    if not whole:
        return None
    if answer.kind == "neither":
        return BEFORE_FIRST
    return RETRYABLE_EVENT if answer.retryable else FINAL


def _of_refusal(case: Case, call: Call, whole: bool) -> Failure | None:
    answer = call.script.answer
    assert answer is not None
    status = answer.status
    late = case.world.universe.now >= call.head_since + ANSWER_SECONDS
    if not (whole or call.broken or late):
        return None
    if status in (408, 504, 524):
        return FIRST_EVENT
    if status == 401:
        return ROUTE_REFUSED
    retryable = answer.retryable if whole else refusal_retryable(status, None, None)
    return RETRYABLE_EVENT if retryable else FINAL


def _overflows(case: Case, call: Call, failing: int | None) -> bool:
    """Was more held back than may be, before anything else ended the attempt?"""
    script = call.script
    too_large = script.fault == "oversized" and script.broken_at is not None
    if too_large and call.arrived >= (script.broken_at or 0):
        return True
    if case.handed_lifecycle or case.handed_output or not case.streamed:
        return False
    held, bound = 0, case.world.settings.turn.pre_output_buffer_bytes
    for event in call.events[: failing if failing is not None else None]:
        if event.kind == OUTPUT:
            return False
        held += len(event.block)
        if held > bound:
            return True
    return False


def _broken(call: Call) -> bool:
    script = call.script
    done = script.done_at is not None and call.arrived >= script.done_at
    garbage = script.broken_at is not None and call.arrived >= script.broken_at
    return call.broken or done or garbage


def _begun(case: Case, call: Call) -> bool:
    """Has its first event come, or the status line of what is not streamed?"""
    if not case.streamed:
        return call.arrived >= call.script.head_at > 0
    return any(event.kind != NEUTRAL for event in call.events)


def _of_break(case: Case, call: Call) -> Failure:
    return AFTER_FIRST if _begun(case, call) else BEFORE_FIRST


def _of_silence(case: Case, call: Call) -> Failure:
    """Nothing ended it: a clock did."""
    if not call.connected:
        return BEFORE_FIRST
    if not case.streamed or not _begun(case, call):
        return FIRST_EVENT
    return IDLE


# ---- the bill


def tokens_of(call: Call) -> Tokens | None:
    """The usage that an attempt is billed by: its end's, else the last that was metered."""
    answer = call.script.answer
    if answer is not None and answer.event is not None and call.arrived >= call.script.answer_at:
        return answer.event.tokens
    found: Tokens | None = None
    for at, event in enumerate(call.events_read):
        if event.kind in TERMINAL:
            last = event.tokens if event.tokens is not None else found
            return _of_pair(call, at, last) if event.kind == ERROR else last
        if event.metered and event.tokens is not None:
            found = event.tokens
    return found


def _of_pair(call: Call, at: int, found: Tokens | None) -> Tokens | None:
    """What was waited for behind an `error` counts; what merely came along does not."""
    waited = [event for event in call.events_read[at + 1 :] if event.kind != NEUTRAL][:1]
    if waited and waited[0].tokens is not None:
        counts = waited[0].kind == FAILED or (found is None and waited[0].metered)
        return waited[0].tokens if counts else found
    return found
