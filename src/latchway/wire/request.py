"""A request: what ties it to one place, what it asks for, and the bytes that go upstream (R3).

The body is read once and never written anew: its members keep their bytes, and a member that two
parsers could read in two ways is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from latchway.turn.events import Binding
from latchway.values import Value
from latchway.wire.bindings import TURN_STATE, Bonds, Unsearchable, search
from latchway.wire.errors import RequestFault
from latchway.wire.members import NAME_CHARACTERS, least_bytes, members_of

__all__ = [
    "Request", "RequestFault", "binding_of", "bound_by_encrypted_only", "parse", "upstream_body",
]  # fmt: skip

CREATE_ONLY = ("type", "generate", "stream_id")
"""What a `response.create` has and an HTTP body has not."""

WRAPPING = frozenset({*CREATE_ONLY, "stream"})
"""Members that say how the answer is to come. They say nothing to a model, and are on no bill."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field must be when it is given; `wanted` ends the sentence "must be …"."""

    fits: Callable[[Any], bool]
    wanted: str


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= NAME_CHARACTERS


def _is_conversation(value: Any) -> bool:
    return _is_name(value.get("id") if isinstance(value, dict) else value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_FLAG = Shape(_is_bool, "true or false")
_NAME = Shape(_is_name, f"a string of 1 to {NAME_CHARACTERS} characters")

SCALARS: Mapping[str, Shape] = {
    "model": _NAME,
    "stream": _FLAG,
    "store": _FLAG,
    "background": _FLAG,
    "generate": _FLAG,
    "previous_response_id": _NAME,
    "conversation": Shape(_is_conversation, "an id, or an object with an `id`"),
    "max_output_tokens": Shape(_is_count, "a positive whole number"),
}
"""The fields that are read here. `null` counts as omitted (R3)."""

LARGE: Mapping[str, tuple[bytes, str]] = {
    "input": (b'"[n', "a string or a list of items"),
    "tools": (b"[n", "a list of tools"),
}
"""The large fields, told by their first byte."""

_NULL = msgspec.Raw(b"null")


class Request(Value, frozen=True):
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
    prompt_bytes: int
    """Of its members but the WRAPPING ones, without blanks between them: whichever transport it
    came by, the same request has as many (R5)."""
    partial_input: bool
    """Not all of its input is in it (a continuation, stored prompt, file or image by id)."""
    client_headers: tuple[tuple[str, str], ...] = ()
    """Headers of the client that may go upstream (the allow-list is the adapter's)."""
    compacts: bool = False
    """It came to `/v1/responses/compact`, and is never replayed (docs/http.md)."""
    held: tuple[bytes, ...] = ()
    """Marks of what only its origin can read, in order (wire/marks.py)."""


def parse(
    body: bytes,
    *,
    websocket: bool,
    compacts: bool = False,
    pinned_route: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Request:
    """A body, or a `response.create`, as a Request. RequestFault: it is refused.

    `headers`: the client's, by lower-case name; one of them can bind (R3).
    """
    fields = members_of(body)
    values = {name: _scalar(name, fields) for name in SCALARS}
    if values["model"] is None:
        raise RequestFault("invalid_request", "`model` is missing; name a model.", "model")
    _refuse_unsupported(fields, values, websocket)
    if compacts and values["stream"]:
        raise _unsupported("stream", "a compaction is one answer")
    bonds = _bonds(fields)
    return Request(
        body=body,
        fields=fields,
        model=values["model"],
        streamed=websocket or values["stream"] is True,
        websocket=websocket,
        store=values["store"],
        previous_response_id=values["previous_response_id"],
        conversation=_id_of(values["conversation"]),
        origin_field=bonds.origin_field or (TURN_STATE if headers.get(TURN_STATE) else None),
        encrypted_field=bonds.encrypted_field,
        pinned_route=pinned_route,
        acting_tool=bonds.acting_tool,
        background=values["background"] is True,
        max_output_tokens=values["max_output_tokens"],
        prompt_bytes=least_bytes({k: v for k, v in fields.items() if k not in WRAPPING}),
        partial_input=bonds.outside or _continues(values),
        held=bonds.held,
        compacts=compacts,
    )


def binding_of(request: Request, *, store_when_omitted: str, store_default: bool) -> Binding:
    """What ties the request to one place, were it sent to a route with this `store_default`.

    The first in R3's order. `store_when_omitted`: provider | false | stateless.
    """
    omitted = store_when_omitted == "provider" and store_default and not request.compacts
    if request.store or (request.store is None and omitted):
        return Binding.STORED
    if request.previous_response_id is not None or request.conversation is not None:
        return Binding.CONTINUATION
    if request.origin_field or request.encrypted_field or request.pinned_route is not None:
        return Binding.ORIGIN_BOUND
    if request.compacts:
        return Binding.ORIGIN_BOUND
    return Binding.STATELESS


def bound_by_encrypted_only(
    request: Request, *, store_when_omitted: str, store_default: bool
) -> bool:
    """Is it origin-bound by encrypted items and nothing else? Routes of one origin share them."""
    binding = binding_of(
        request, store_when_omitted=store_when_omitted, store_default=store_default
    )
    elsewise = request.origin_field is not None or request.pinned_route is not None
    elsewise = elsewise or request.compacts
    return binding is Binding.ORIGIN_BOUND and not elsewise


def upstream_body(
    request: Request,
    *,
    model: str,
    store_when_omitted: str,
    drop_fields: tuple[str, ...] = (),
) -> bytes:
    """The bytes that go to a route where the model is called `model`.

    Those that came if nothing must change; else the members in their order, each with its own
    bytes, but for the model's name, an omitted `store` where the setting is `false`, what a
    `response.create` says otherwise than a body, and the route's dropped fields.
    """
    dropped = {*drop_fields, *(CREATE_ONLY if request.websocket else ("generate",))}
    changed: dict[str, Any] = {}
    if model != request.model:
        changed["model"] = model
    if request.websocket:
        changed["stream"] = True
    if request.store is None and store_when_omitted == "false" and not request.compacts:
        changed["store"] = False
    if not changed and dropped.isdisjoint(request.fields):
        return request.body
    members = {**request.fields, **changed}
    return msgspec.json.encode({k: v for k, v in members.items() if k not in dropped})


def _scalar(name: str, fields: Mapping[str, msgspec.Raw]) -> Any:
    """The value of a field that is read here, None if it is omitted or `null`."""
    raw = fields.get(name)
    if raw is None:
        return None
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):  # a number beyond all bounds; nested too deep
        value = ()
    if value is None or SCALARS[name].fits(value):
        return value
    raise _unfit(name, SCALARS[name].wanted)


def _unfit(name: str, wanted: str) -> RequestFault:
    return RequestFault("invalid_request", f"`{name}` must be {wanted}, or left out.", name)


def _refuse_unsupported(
    fields: Mapping[str, msgspec.Raw], values: Mapping[str, Any], websocket: bool
) -> None:
    """What the gateway does not do, on both transports and over a WebSocket (R8)."""
    if values["generate"] is False:
        raise _unsupported("generate", "warm-ups are not supported")
    if websocket and values["background"]:
        raise _unsupported("background", "a WebSocket has no background turns; use HTTP")
    if websocket and bytes(fields.get("stream_id", _NULL)) != b"null":
        raise _unsupported("stream_id", "a connection has one lane; open another connection")


def _unsupported(name: str, why: str) -> RequestFault:
    return RequestFault("unsupported_parameter", f"`{name}`: {why}. Leave it out.", name)


def _bonds(fields: Mapping[str, msgspec.Raw]) -> Bonds:
    """What the members hold that binds (wire/bindings.py), once the large ones have their shape."""
    for name, (openings, wanted) in LARGE.items():
        if name in fields and memoryview(fields[name])[0] not in openings:
            raise _unfit(name, wanted)
    try:
        return search(fields)
    except Unsearchable as fault:
        text = f"`{fault.field}` {fault.why}; send it otherwise."
        raise RequestFault("invalid_request", text, fault.field) from None


def _id_of(conversation: Any) -> str | None:
    """A conversation is given as its id, or as an object that has it."""
    named: str | None = conversation["id"] if isinstance(conversation, dict) else conversation
    return named


def _continues(values: Mapping[str, Any]) -> bool:
    return values["previous_response_id"] is not None or values["conversation"] is not None
