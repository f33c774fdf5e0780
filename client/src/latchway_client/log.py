"""One log line for each end of a turn, with its ids, and one for each decision.

Through the standard library's logging, as `latchway_client`: a failure is a warning, the rest is
information. No prompt, no output text and no server's message is in them.
"""

from __future__ import annotations

import logging

from latchway_client.decide import Decision
from latchway_client.ends import Failure, Result

logger = logging.getLogger("latchway_client")


def ended(end: Result | Failure) -> None:
    """A turn has ended."""
    ids = (_in_line(end.response_id), _in_line(", ".join(end.request_ids) or None))
    if isinstance(end, Result):
        logger.info("turn %s, response %s, request %s", end.status, *ids)
    else:
        logger.warning(
            "turn failed: %s, code %s, status %s, after_output=%s, response %s, request %s",
            end.how,
            _in_line(end.code),
            end.status,
            end.after_output,
            *ids,
        )


def decided(decision: Decision) -> None:
    """A failed turn is sent again, or not."""
    answer = "allowed" if decision.allowed else "refused"
    logger.info("new request %s: %s (%s)", answer, decision.reason, decision.sentence)


def _in_line(text: str | None) -> str | None:
    """What a server says must not end the line, and begin one of its own."""
    return text and "".join(char if char.isprintable() else "?" for char in text)
