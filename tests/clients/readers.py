"""What each kind of client makes of what goes over the wire.

SDKs turn an HTTP status, and most an `error` event, into an exception; `response.failed` is an
event like others to them, but not to their stream helpers. A client that sees anything else than
what stands here has met another gateway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clients.outcome import Wire
from clients.way import LIFECYCLE


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client program prints about one turn, but for the ids."""

    types: tuple[str, ...]
    text: str
    code: str | None
    status: int | None
    raised: str | None


STATUS_CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
}
"""Both SDKs name their exceptions alike, but for the one of all other statuses under 500."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """How an SDK shows failures."""

    other_status: str
    """The exception's class for a status that has none of its own."""
    unfinished: str | None
    """What its stream helper raises at the end of a response that is not completed."""

    def status_class(self, status: int) -> str:
        if status >= 500:
            return "InternalServerError"
        return STATUS_CLASSES.get(status, self.other_status)


PYTHON = Sdk("APIStatusError", "RuntimeError")
NODE = Sdk("APIError", None)


def as_it_is(wire: Wire, sdk: Sdk) -> Seen:
    """A reader that hides nothing and adds nothing."""
    return Seen(wire.types, wire.text, wire.code, wire.status, None)


def by_sdk(wire: Wire, sdk: Sdk) -> Seen:
    """An SDK's stream, or its whole body."""
    if wire.status is not None and wire.status >= 400:
        return Seen((), "", wire.code, wire.status, sdk.status_class(wire.status))
    if "error" in wire.types:
        before = wire.types[: wire.types.index("error")]
        return Seen(before, wire.text, wire.code, None, "APIError")
    return Seen(wire.types, wire.text, wire.code, None, None)


def by_helper(wire: Wire, sdk: Sdk) -> Seen:
    """An SDK's stream helper, asked for the final response at the end."""
    seen = by_sdk(wire, sdk)
    if seen.raised is None and wire.types[-1] != "response.completed":
        return replace(seen, raised=sdk.unfinished)
    return seen


FAILURES = ("error", "response.failed")


def by_library(wire: Wire, sdk: Sdk) -> Seen:
    """`latchway_client`: the events before the failure, then one exception for every failure."""
    failing = next((type for type in wire.types if type in FAILURES), None)
    if wire.code is None:
        return Seen(wire.types, wire.text, None, None, None)
    before = wire.types[: wire.types.index(failing)] if failing else ()
    how = HOWS[failing]
    status = wire.status if wire.status != 200 else None
    raised = f"{how} after_output={after_output(wire)}"
    return Seen(before, wire.text, wire.code, status, raised)


HOWS = {"error": "error_event", "response.failed": "failed_event", None: "http_status"}
"""How a turn ended, by the first event that told of its failure."""


def by_example(wire: Wire, sdk: Sdk) -> Seen:
    """A program of examples/: text, and the one word on how it ended."""
    raised = f"after_output={after_output(wire)}" if wire.code is not None else "completed"
    return Seen((), wire.text, wire.code, None, raised)


def after_output(wire: Wire) -> bool:
    """Had any output come before the failure?"""
    return any(type not in (*LIFECYCLE, *FAILURES) for type in wire.types)
