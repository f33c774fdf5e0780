"""Questions about a response that a provider keeps go to the route that made it (R3).

Who asks with another owner's key, or for what nobody here has seen, gets the same answer.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from latchway.ledger.database import LedgerFault
from latchway.serve.answers import JSON_TYPE, Page
from latchway.settings import Route
from latchway.upstreams.headers import sound
from latchway.wire.frame import Answer
from latchway.wire.marks import mark
from latchway.wire.request import RequestFault

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.incoming import Incoming

BASE = "/v1"
"""What a provider's `base_url` stands for in our own paths."""


async def page(app: App, incoming: Incoming, response_id: str) -> Page | RequestFault:
    """The upstream's answer, or why there is none that the client may have."""
    try:
        answer = await _answer(app, incoming, response_id)
    except RequestFault as fault:
        return fault
    return Page(answer.status, answer.body, answer.content_type or JSON_TYPE)


async def _answer(app: App, incoming: Incoming, response_id: str) -> Answer:
    _check_query(incoming)
    route = _maker(app, incoming, response_id)
    incoming.called = True
    answer = await _asked(app, incoming, route)
    if answer is None:
        raise RequestFault("first_event_timeout", "The upstream did not answer in time.")
    if isinstance(answer, str) or 300 <= answer.status <= 399:
        raise RequestFault("stream_read_error", "The upstream did not answer this question.")
    if answer.status == 401:
        raise RequestFault("upstream_auth_error", "")
    return answer


def _check_query(incoming: Incoming) -> None:
    if not sound(incoming.query):
        raise RequestFault("invalid_request", "The query must be escaped.")
    if parse_qs(incoming.query).get("stream", ["false"])[-1] != "false":
        text = "A stored response is not streamed again; leave `stream` out."
        raise RequestFault("unsupported_parameter", text, "stream")


def _maker(app: App, incoming: Incoming, response_id: str) -> Route:
    assert incoming.key is not None
    try:
        name = app.ports.ledger.maker(incoming.key.owner, [mark(response_id)])
    except LedgerFault:
        raise RequestFault("ledger_unavailable", "") from None
    if name is None:
        raise RequestFault("response_not_found", "")
    models = app.settings.models.values()
    named = (route for model in models for route in model.routes if route.name == name)
    route = next((route for route in named if route.enabled), None)
    if route is None:
        raise RequestFault("no_route_available", "")
    return route


async def _asked(app: App, incoming: Incoming, route: Route) -> Answer | str | None:
    """What the route answered, or why it did not, in words; None: not in time."""
    answered: asyncio.Future[Answer | str] = asyncio.get_running_loop().create_future()
    path = incoming.url.decode("ascii").removeprefix(BASE)
    question = app.ports.upstreams.ask(
        route, incoming.method, path, incoming.body,
        lambda answer: None if answered.done() else answered.set_result(answer),
    )  # fmt: skip
    try:
        async with asyncio.timeout(app.settings.turn.whole_answer_timeout_seconds):
            return await answered
    except TimeoutError:
        return None
    finally:
        question.give_up()
