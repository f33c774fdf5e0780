"""A request: what ties it to one place, what it asks for, and the bytes that go upstream (R3)."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec


class RequestFault(Exception):
    """A request that is refused before anything is called. `code` is a row of wire/errors.py."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.param = code, message, param


@dataclass(frozen=True, slots=True)
class Request:
    """A parsed request, whichever transport it came by."""

    body: bytes
    """As it came."""
    fields: dict[str, msgspec.Raw]
    """Its members in order, values untouched."""
    model: str
    streamed: bool
    """Over a WebSocket always true."""
    websocket: bool
    store: bool | None
    previous_response_id: str | None
    conversation: str | None
    origin_field: str | None
    """Path of the first field that binds it to its origin, other than encrypted content."""
    encrypted_field: str | None
    """Path of the first encrypted item."""
    pinned_route: str | None
    """`x-latchway-route`, which also makes it origin-bound."""
    acting_tool: str | None
    """Type of the first tool that can act before its first event is seen."""
    background: bool
    max_output_tokens: int | None
    partial_input: bool
    """Not all of its input is in it (a continuation, stored prompt, file or image by id)."""
