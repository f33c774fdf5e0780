"""A request: what ties it to one place, what it asks for, and the bytes that go upstream (R3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from latchway.turn.events import Binding


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
    client_headers: tuple[tuple[str, str], ...] = ()
    """Headers of the client that may go upstream (the allow-list is the adapter's)."""


def parse(
    body: bytes,
    *,
    websocket: bool,
    pinned_route: str | None = None,
    headers: Mapping[str, str] = {},
) -> Request:
    """A body, or a `response.create`, as a Request. RequestFault: it is refused."""
    raise NotImplementedError


def binding_of(request: Request, *, store_when_omitted: str, store_default: bool) -> Binding:
    """What ties the request to one place, were it sent to a route with this `store_default`."""
    raise NotImplementedError


def bound_by_encrypted_only(
    request: Request, *, store_when_omitted: str, store_default: bool
) -> bool:
    """Is it origin-bound by encrypted items and nothing else? Routes of one origin share them."""
    raise NotImplementedError


def upstream_body(
    request: Request,
    *,
    model: str,
    store_when_omitted: str,
    drop_fields: tuple[str, ...] = (),
) -> bytes:
    """The bytes that go to a route where the model is called `model`."""
    raise NotImplementedError
