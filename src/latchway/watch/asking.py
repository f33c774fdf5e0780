"""What is sent: a request in a few words, or a whole one; and how the gateway reads it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from latchway.settings import Settings
from latchway.terms import terms_of
from latchway.turn.events import Place
from latchway.turn.machine import Terms
from latchway.wire import request as requests
from latchway.wire.members import members_of
from latchway.wire.request import Request, RequestFault

DEFAULT_INPUT = "Say hello."

SETTINGS = Settings(models={}, providers={})
"""The gateway's defaults."""

ROUTE = "watched"
"""What the turn calls the place that is watched."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A request that is ready to be sent, and what a turn must know of it."""

    body: bytes
    model: str
    streamed: bool
    terms: Terms
    place: Place
    refusal: str | None
    """Why the gateway would not take it, in words. It is sent all the same, and judged as a
    stateless one."""


def in_words(model: str, said: str) -> bytes:
    """A request that stores nothing."""
    return msgspec.json.encode({"model": model, "input": said, "store": False})


def asking(body: bytes, *, model: str | None, websocket: bool, silence: float | None) -> Asking:
    """`body` as it is sent: streamed if it does not say otherwise, a `response.create` over a
    WebSocket, for `model` if one is named. `silence`: the longest, in seconds, in place of the
    gateway's own. RequestFault: it is no JSON object."""
    own = members_of(body)
    first = {"type": "response.create"} if websocket else {"stream": True}
    named = {} if model is None else {"model": model}
    sent = msgspec.json.encode({**first, **own, **named})
    request, refusal = _read(sent, websocket)
    return Asking(
        body=sent,
        model=request.model,
        streamed=request.streamed,
        terms=_terms(request, silence),
        place=_place(request, silence),
        refusal=refusal,
    )


def _read(body: bytes, websocket: bool) -> tuple[Request, str | None]:
    try:
        return requests.parse(body, websocket=websocket), None
    except RequestFault as fault:
        stand_in = msgspec.json.encode({"model": "-", "store": False, "stream": True})
        return requests.parse(stand_in, websocket=websocket), f"{fault.code}: {fault}"


def _terms(request: Request, silence: float | None) -> Terms:
    terms = terms_of(request, SETTINGS)
    if silence is None:
        return terms
    return msgspec.structs.replace(terms, whole_answer_timeout_seconds=silence)


def _place(request: Request, silence: float | None) -> Place:
    """The place that is watched, as if another route stood ready for a replay."""
    binding = requests.binding_of(
        request, store_when_omitted=SETTINGS.turn.store_when_omitted, store_default=True
    )
    place = Place(route=ROUTE, binding=binding, another=True)
    if silence is None:
        return place
    return msgspec.structs.replace(
        place,
        connect_timeout_seconds=min(silence, place.connect_timeout_seconds),
        first_event_timeout_seconds=silence,
        idle_timeout_seconds=silence,
    )
