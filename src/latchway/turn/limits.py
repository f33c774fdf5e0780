"""Limits of the heart that no configuration changes: one line each, unit last, with its reason."""

PAIR_WAIT_SECONDS = 1.0
"""How long the gateway reads on after an `error` event: the usage that forbids a replay may stand
in the `response.failed` that follows (R2, "Pairs")."""

ATTEMPTS = 2
"""Upstream calls a turn, at most (R1.5)."""

MARKS = 1024
"""Of one attempt's items by which their maker is known again; answers have about ten items."""
