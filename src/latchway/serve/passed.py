"""What a provider keeps is asked of the route that made it, and of no other (R3).

Responses and conversations are kept. Where the thing is still to be made, or only counted, the
route is the one that a turn would go to. None of this is a turn: nothing is held, replayed,
reserved or logged. Who asks with another owner's key, or for what nobody here has seen, gets the
same answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote_plus

from latchway.ledger.database import LedgerFault
from latchway.ports import Choice, Granted, Unavailable
from latchway.routes.table import NO_SUCH_PIN, NOT_YOURS, PIN_HEADER, PINNED_ELSEWHERE
from latchway.serve import pages
from latchway.serve.answers import JSON_TYPE, Page
from latchway.serve.retold import retell
from latchway.settings import Route
from latchway.turn import failures
from latchway.upstreams.headers import sound
from latchway.wire.bindings import Unsearchable, search
from latchway.wire.errors import may_be_sent_again
from latchway.wire.frame import Answer
from latchway.wire.marks import mark, of_answer
from latchway.wire.members import members_of
from latchway.wire.request import RequestFault, upstream_body

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection
    from latchway.serve.incoming import Incoming

BASE = "/v1"
"""What a provider's `base_url` stands for in our own paths."""

STREAM = {"true": True, "false": False}

QUERY_CHARACTERS = 4096
"""Of a query that is passed on: with a path before it, it still fits into one line of a head."""

BAD_QUERY = f"The query must be escaped, and of at most {QUERY_CHARACTERS} characters."

WORDS = re.compile("[/?&=;,]+")
"""What parts the words of a path and a query, each of which may be the id of something."""


@dataclass(frozen=True, slots=True)
class Question:
    """Whom to ask, and what. `path`: below the provider's base_url."""

    route: Route
    owner: str
    method: str
    path: str
    body: bytes
    changes: bool
    """It may leave something behind, so that asking again is not simply safe."""
    streamed: bool = False


# ---- whom to ask: one function for each kind of path; RequestFault: the answer is no

Whom = Callable[["App", "Incoming", str], Question]


def keeper(app: App, incoming: Incoming, thing: str) -> Question:
    """A response or a conversation, which `thing` is the id of: the route that made it."""
    name = _maker(app, _owner(incoming), thing)
    if name is None or _is_anothers(app, incoming, _words(incoming)):
        raise RequestFault("response_not_found", "")
    if incoming.headers.get(PIN_HEADER, name) != name:
        raise RequestFault("invalid_request", PINNED_ELSEWHERE.format("it"), PIN_HEADER)
    _check_body(app, incoming)
    return _question(incoming, _enabled(route for route in _routes(app) if route.name == name))


def teller(app: App, incoming: Incoming, thing: str) -> Question:
    """A response, which may be asked for as a stream of its events."""
    said = parse_qs(incoming.query, keep_blank_values=True).get("stream", ["false"])[-1]
    if said not in STREAM:
        raise RequestFault("invalid_request", "`stream` must be true or false.", "stream")
    question = keeper(app, incoming, thing)
    return replace(question, streamed=incoming.method == "GET" and STREAM[said])


def founder(app: App, incoming: Incoming, thing: str) -> Question:
    """A new conversation: the pinned route, else the first enabled one in the file."""
    pin = incoming.headers.get(PIN_HEADER)
    routes = [route for route in _routes(app) if pin in (None, route.name)]
    if not routes:
        raise RequestFault("invalid_request", NO_SUCH_PIN, PIN_HEADER)
    _check_body(app, incoming)
    return _question(incoming, _enabled(routes))


def counter(app: App, incoming: Incoming, thing: str) -> Question:
    """The tokens of a request: the route that a turn with the same body would go to."""
    request = app.read(incoming.body, incoming.headers, websocket=False)
    try:
        route = app.ports.routes.route_for(request, _owner(incoming))
    except LedgerFault:
        raise RequestFault("ledger_unavailable", "") from None
    if isinstance(route, Choice):
        raise RequestFault(route.code or "no_route_available", route.message or "", route.param)
    body = upstream_body(
        request, model=route.upstream_model, store_when_omitted="", drop_fields=route.drop_fields
    )
    return replace(_question(incoming, route), body=body, changes=False)


def _words(incoming: Incoming) -> list[bytes]:
    """Marks of all that its path and its query can name; a number names nothing."""
    words = map(unquote_plus, WORDS.split(f"{incoming.path}?{incoming.query}"))
    return [mark(word) for word in words if not word.isdecimal()]


def _check_body(app: App, incoming: Incoming) -> None:
    """What a conversation is given, its items above all: none of it may be another owner's."""
    fields = members_of(incoming.body) if incoming.body else {}
    for name, raw in fields.items():
        try:
            held = search({"input" if name == "items" else name: raw}).held
        except Unsearchable as fault:
            raise RequestFault("invalid_request", f"`{name}` {fault.why}.", name) from None
        if _is_anothers(app, incoming, held):
            raise RequestFault("invalid_request", NOT_YOURS, name)


def _is_anothers(app: App, incoming: Incoming, marks: Sequence[bytes]) -> bool:
    try:
        return app.ports.ledger.is_anothers(_owner(incoming), marks)
    except LedgerFault:
        raise RequestFault("ledger_unavailable", "") from None


def _question(incoming: Incoming, route: Route) -> Question:
    path = incoming.url.decode("ascii").removeprefix(BASE)
    changes = incoming.method != "GET"
    return Question(route, _owner(incoming), incoming.method, path, incoming.body, changes)


def _owner(incoming: Incoming) -> str:
    assert incoming.key is not None
    return incoming.key.owner


def _maker(app: App, owner: str, thing: str) -> str | None:
    try:
        return app.ports.ledger.maker(owner, [mark(thing)])
    except LedgerFault:
        raise RequestFault("ledger_unavailable", "") from None


def _routes(app: App) -> list[Route]:
    return [route for model in app.settings.models.values() for route in model.routes]


def _enabled(routes: Iterable[Route]) -> Route:
    route = next((route for route in routes if route.enabled), None)
    if route is None:
        raise RequestFault("no_route_available", "")
    return route


# ---- the question and its answer


def answer(
    app: App, connection: HttpConnection, incoming: Incoming, whom: Whom, thing: str
) -> None:
    """Ask, and pass on what is answered, as a page or as a stream."""
    try:
        if not sound(incoming.query) or len(incoming.query) > QUERY_CHARACTERS:
            raise RequestFault("invalid_request", BAD_QUERY)
        question = whom(app, incoming, thing)
    except RequestFault as fault:
        pages.write(app, connection, incoming, fault)
        return
    incoming.called = question.changes
    if question.streamed:
        retell(app, connection, incoming, question)
    else:
        connection.wait_for(_passed(app, connection, incoming, question))


async def _passed(
    app: App, connection: HttpConnection, incoming: Incoming, question: Question
) -> None:
    try:
        page = await _page(app, question)
    except RequestFault as fault:
        pages.write(app, connection, incoming, fault)
    else:
        pages.write(app, connection, incoming, page)


async def _page(app: App, question: Question) -> Page:
    """The upstream's answer. RequestFault: there is none that the client may have."""
    told = await _asked(app, question)
    if told is None:
        raise RequestFault("first_event_timeout", "The upstream did not answer in time.")
    if isinstance(told, str) or 300 <= told.status <= 399:
        raise RequestFault("stream_read_error", "The upstream did not answer this question.")
    if told.status == 401:
        raise RequestFault("upstream_auth_error", "")
    if told.status < 300 and not await _remembered(app, question, of_answer(told.body)):
        raise RequestFault("ledger_unavailable", "")
    return _as_page(question, told)


def _as_page(question: Question, told: Answer) -> Page:
    """To read again is safe, and helps where a turn would be replayed (R2.1)."""
    replayable = failures.of_answer(told).replayable and may_be_sent_again(told.note.code)
    return Page(
        told.status,
        told.body,
        told.content_type or JSON_TYPE,
        retryable=replayable and not question.changes,
        retry_after=told.note.retry_after,
    )


async def _remembered(app: App, question: Question, marks: Sequence[bytes]) -> bool:
    """What the answer names can be asked for again. False: it has been made, and could not be
    noted, so that nobody would find it; what is only read can be read all the same."""
    if not marks:
        return True
    noted: asyncio.Future[Granted | Unavailable] = asyncio.get_running_loop().create_future()
    app.ports.ledger.remember(
        question.owner, question.route.name, marks,
        lambda answer: None if noted.done() else noted.set_result(answer),
    )  # fmt: skip
    return isinstance(await noted, Granted) or not question.changes


async def _asked(app: App, question: Question) -> Answer | str | None:
    """What the route answered, or why it did not, in words; None: not in time."""
    answered: asyncio.Future[Answer | str] = asyncio.get_running_loop().create_future()
    asked = app.ports.upstreams.ask(
        question.route, question.method, question.path, question.body,
        lambda answer: None if answered.done() else answered.set_result(answer),
    )  # fmt: skip
    try:
        async with asyncio.timeout(app.settings.turn.whole_answer_timeout_seconds):
            return await answered
    except TimeoutError:
        return None
    finally:
        asked.give_up()
