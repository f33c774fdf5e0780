"""Messages of a client on a WebSocket, by their `type` (R8): one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import msgspec

from latchway.turn import commands as do
from latchway.wire import errors
from latchway.wire.request import RequestFault

ECHO_CHARACTERS = 256
"""Of an id or a lane that an answer repeats: as long as a lane's name may be."""


class Sort(Enum):
    """What is done with a message."""

    CREATE = "a turn, or a refusal in its turn"
    STEER = "answered with response.steer.failed: any `error` would end the active response"
    IGNORED = "nothing"
    REFUSED = "an error frame at once"


SORTS = {
    "response.create": Sort.CREATE,
    "response.steer": Sort.STEER,
    "response.processed": Sort.IGNORED,
}


@dataclass(frozen=True, slots=True)
class Create:
    """A `response.create` on its way. `fault`: what is wrong with it, told in its turn."""

    message: bytes
    fault: RequestFault | None = None
    stream_id: str | None = None

    @property
    def size(self) -> int:
        return len(self.message)


class Queue:
    """Creates that wait for the active turn to end, bounded in number and in bytes."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._bytes = 0
        self._creates: list[Create] = []

    def put(self, create: Create) -> bool:
        """False: there is no room."""
        if len(self._creates) >= self._most or self._bytes + create.size > self._most_bytes:
            return False
        self._creates.append(create)
        self._bytes += create.size
        return True

    def take(self) -> Create | None:
        """The one that has waited longest."""
        if not self._creates:
            return None
        create = self._creates.pop(0)
        self._bytes -= create.size
        return create

    def clear(self) -> None:
        self._creates.clear()
        self._bytes = 0


class _Peek(msgspec.Struct):
    type: object = None
    stream_id: object = None


def sort_message(message: bytes, limit_bytes: int) -> tuple[Sort, RequestFault | None, str | None]:
    """What a message is, what is wrong with it, and the lane it asked for.

    A message that cannot be read is taken for a faulty create: it is answered in its turn.
    """
    if len(message) > limit_bytes:
        fault = RequestFault("request_too_large", f"The create is over {limit_bytes} bytes.")
        return Sort.CREATE, fault, None
    try:
        peek = msgspec.json.decode(message, type=_Peek)
    except (msgspec.DecodeError, RecursionError):
        return Sort.CREATE, None, None
    stream_id = _echo(peek.stream_id)
    sort = SORTS.get(peek.type, Sort.REFUSED) if isinstance(peek.type, str) else Sort.REFUSED
    if sort is not Sort.REFUSED:
        return sort, None, stream_id
    named = f"type {peek.type[:64]!r}" if isinstance(peek.type, str) else "a message without type"
    fault = RequestFault(
        "unsupported_parameter", f"There is no {named}; send `response.create`.", "type"
    )
    return sort, fault, stream_id


def refusal(fail: do.Fail, request_id: str, stream_id: str | None) -> bytes:
    """An `error` frame in the gateway's own words."""
    error = errors.error_object(
        fail.code, fail.message, fail.param, retryable=fail.retryable, retry_after=fail.retry_after
    )
    return errors.ws_failure(error, errors.status_of(fail.code), request_id, stream_id)


class _Steer(msgspec.Struct):
    previous_response_id: str | None = None


def steer_failed(message: bytes, stream_id: str | None) -> bytes:
    """The answer to a `response.steer`; it says what it is about, as the client said it."""
    try:
        steer = msgspec.json.decode(message, type=_Steer)
    except msgspec.ValidationError:
        steer = _Steer()
    told: dict[str, object] = {
        "type": "response.steer.failed",
        "previous_response_id": _echo(steer.previous_response_id),
        "error": {
            "type": "invalid_request_error",
            "code": "steering_not_supported",
            "message": "The gateway does not support steering; send a new response.create.",
            "param": "type",
        },
    }
    if stream_id is not None:
        told["stream_id"] = stream_id
    return errors.ascii_json(told)


def _echo(value: object) -> str | None:
    """What a client said, to be said back to it; what is no short string is not."""
    return value if isinstance(value, str) and len(value) <= ECHO_CHARACTERS else None
