"""The rule: may this turn be replayed? (R1)

This is the only place that can say yes. The machine asks once at every abnormal end of an attempt,
the client's leaving included. The order of the questions is their rank: the first that holds names
the verdict. Records show the verdict's value, people its sentence in `SENTENCE`.
"""

from __future__ import annotations

from latchway.turn.commands import Delivered
from latchway.turn.events import Binding
from latchway.turn.failures import Failure
from latchway.values import Value, Word


class Verdict(Word):
    """Why a turn is replayed, or not."""

    CLIENT_GONE = "client_gone"
    OUTPUT_DELIVERED = "output_delivered"
    LIFECYCLE_DELIVERED = "lifecycle_delivered"
    STORED = "stored"
    CONTINUATION = "continuation"
    ORIGIN_BOUND = "origin_bound"
    ALREADY_REPLAYED = "already_replayed"
    USAGE_SEEN = "usage_seen"
    FAILURE_FINAL = "failure_final"
    ACTING_TOOLS = "acting_tools"
    BUDGET_SPENT = "budget_spent"
    NO_ROUTE = "no_route"
    REPLAY = "replay"


class Situation(Value, frozen=True):
    """The facts at the moment an attempt has failed, frozen."""

    client_here: bool
    delivered: Delivered
    binding: Binding
    kindred: bool
    """Bound by encrypted items alone, and another route of the same origin is there (R3)."""
    attempt: int
    observed: bool
    """Output, or usage that is not zero, has arrived from this attempt, read by us or not."""
    failure: Failure
    acting_tools: bool
    """The request has a tool that may already have acted, and the setting forbids that."""
    replay_room: bool
    another_route: bool


BOUND = {
    Binding.STORED: Verdict.STORED,
    Binding.CONTINUATION: Verdict.CONTINUATION,
    Binding.ORIGIN_BOUND: Verdict.ORIGIN_BOUND,
}


def decide(s: Situation) -> Verdict:
    """Answer for this situation. Total: every situation has exactly one verdict."""
    if not s.client_here:
        return Verdict.CLIENT_GONE
    if s.delivered is Delivered.OUTPUT:
        return Verdict.OUTPUT_DELIVERED
    if s.delivered is Delivered.LIFECYCLE:
        return Verdict.LIFECYCLE_DELIVERED
    if s.binding in BOUND and not (s.binding is Binding.ORIGIN_BOUND and s.kindred):
        return BOUND[s.binding]
    if s.attempt != 1:
        return Verdict.ALREADY_REPLAYED
    if s.observed:
        return Verdict.USAGE_SEEN
    if not s.failure.replayable:
        return Verdict.FAILURE_FINAL
    if s.acting_tools and s.failure.rule == "R2.2":
        return Verdict.ACTING_TOOLS
    if not s.replay_room:
        return Verdict.BUDGET_SPENT
    if not s.another_route:
        return Verdict.NO_ROUTE
    return Verdict.REPLAY


RULE_OF = {
    Verdict.CLIENT_GONE: "R2.8",
    Verdict.OUTPUT_DELIVERED: "R2.4",
    Verdict.LIFECYCLE_DELIVERED: "R4",
    Verdict.STORED: "R2.5",
    Verdict.CONTINUATION: "R2.5",
    Verdict.ORIGIN_BOUND: "R2.5",
    Verdict.ALREADY_REPLAYED: "R2.3",
    Verdict.USAGE_SEEN: "R2.10",
    Verdict.ACTING_TOOLS: "R2.2",
    Verdict.BUDGET_SPENT: "R10",
    Verdict.NO_ROUTE: "R2.11",
}
"""The row of R2 that a verdict stands for; a verdict that is not here: the failure's own row."""

SENTENCE = {
    Verdict.CLIENT_GONE: "the client is gone: nobody listens",
    Verdict.OUTPUT_DELIVERED: "output reached the client: a replay would duplicate it",
    Verdict.LIFECYCLE_DELIVERED: "the client has seen an event of this attempt",
    Verdict.STORED: "the request is stored: a second run could store twice",
    Verdict.CONTINUATION: "the request continues a conversation: a second run could fork it",
    Verdict.ORIGIN_BOUND: "only the origin that made it can read the request",
    Verdict.ALREADY_REPLAYED: "the turn was replayed once, and once is all",
    Verdict.USAGE_SEEN: "output or usage was seen: the attempt was metered",
    Verdict.FAILURE_FINAL: "a second run cannot change this failure, or the first may still go on",
    Verdict.ACTING_TOOLS: "a tool of the request may have acted before its first event",
    Verdict.BUDGET_SPENT: "too many replays are in flight",
    Verdict.NO_ROUTE: "no other route is configured and enabled",
    Verdict.REPLAY: "nobody can notice: the turn is replayed on another route",
}


def rule_of(verdict: Verdict, failure: Failure) -> str:
    """The row of docs/rules.md that the log names beside a verdict."""
    return RULE_OF.get(verdict, failure.rule)
