"""How a turn must end, by the rules: what the client is told, the verdicts, the calls."""

from __future__ import annotations

from dataclasses import dataclass

Ending = str | int
RESULTS = ("completed", "incomplete")


@dataclass(frozen=True, slots=True)
class Expected:
    """`ending`: a response's status, a refusal's HTTP status, or a code of the gateway's own."""

    ending: Ending
    verdicts: tuple[str, ...] = ()
    calls: tuple[int, int] = (1, 0)
    """That reached the first route's server and the second's."""

    @property
    def is_result(self) -> bool:
        return self.ending in RESULTS


COMPLETED = Expected("completed")
REPLAYED = Expected("completed", ("R2.2 replay",), (1, 1))
NEVER_REACHED = Expected("completed", ("R2.2 replay",), (0, 1))
BEGUN = Expected("stream_read_error", ("R2.12 failure_final",))
BROKE_AFTER_TEXT = Expected("stream_read_error", ("R2.4 output_delivered",))
NEVER_SPOKE = Expected("first_event_timeout", ("R2.6 failure_final",))
FELL_SILENT = Expected("stream_idle_timeout", ("R2.15 failure_final",))
SILENT_AFTER_HOLD = Expected("stream_idle_timeout", ("R4 lifecycle_delivered",))
SILENT_AFTER_TEXT = Expected("stream_idle_timeout", ("R2.4 output_delivered",))
UNKNOWN = Expected("previous_response_not_found", (), (0, 0))


def refused(status: int) -> Expected:
    """The upstream's own answer, which a second run cannot change."""
    return Expected(status, ("R2.9 failure_final",))


def refused_there(status: int) -> Expected:
    """The same, of a continuation: it belongs to its route."""
    return Expected(status, ("R2.5 continuation",))
