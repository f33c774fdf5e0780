"""`ports.Upstreams` for providers that speak the Responses API: POST {base_url}/responses.

A request's host, path and credential come from the configuration alone; nothing that a client
sends can name them. Every attempt ends with exactly one of a result, Answered, Broke or
Oversized, unless the turn leaves it before.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from latchway.settings import Provider, Route, Secret, Settings
from latchway.turn.events import (
    Answered,
    Broke,
    Connected,
    Headed,
    Oversized,
    Place,
    Sent,
    UpstreamEvent,
)
from latchway.upstreams.answers import Reader, Refusal, reader_for
from latchway.upstreams.asking import Question, Told
from latchway.upstreams.connection import Connection
from latchway.upstreams.headers import answer_fields, request_fields, request_id, sound
from latchway.upstreams.http1 import Head, request_head
from latchway.upstreams.limits import Limits
from latchway.upstreams.lookup import Find
from latchway.upstreams.pool import Origin, Pool, client_context
from latchway.wire.request import Request, upstream_body

DEFAULT_PORTS = {"http": 80, "https": 443}

COMPACT = "/compact"
"""Below `/responses`: where a request that compacts goes."""

LAST = frozenset({Answered, Broke, Oversized})
"""Events that end an attempt, besides a frame that is a result."""

SCRUBBED = b"(credential)"
SCRUBBED_CHARACTERS = 8
"""At least, of a credential that is looked for: a shorter one is a placeholder (`none`, `test`),
and would be found in ordinary words."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a route leads."""

    origin: Origin
    host: str
    """Value of the `host` field."""
    path: str
    route: Route


class ResponsesUpstreams:
    """Carries out attempts; one for a process. `tls`: None, the system's; `find`, `made`: see Pool.
    Raises ValueError, naming the field, if a base_url or a credential cannot be sent."""

    def __init__(
        self,
        settings: Settings,
        *,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        find: Find | None = None,
        made: Callable[[asyncio.BaseTransport], None] | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self.pool = Pool(self._limits, tls or client_context(), find, made)
        self._event_bytes = settings.limits.event_bytes
        self._store_when_omitted = settings.turn.store_when_omitted
        self._secrets = _secrets(settings)
        self._targets = {
            (model.name, route.name): _target(route)
            for model in settings.models.values()
            for route in model.routes
        }

    def open(
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> Attempt:
        """See `ports.Upstreams`. `place.route` is a route of the request's model."""
        target = self._targets[request.model, place.route]
        if request.compacts:
            target = replace(target, path=target.path + COMPACT)
        body = upstream_body(
            request,
            model=target.route.upstream_model,
            store_when_omitted=self._store_when_omitted,
            drop_fields=target.route.drop_fields,
        )
        call = Attempt(attempt, tell, self._reader_of(attempt, request.streamed), self._limits)
        call.run(self.pool, target.origin, _head(target, request, len(body)), body)
        return call

    def ask(self, route: Route, method: str, path: str, body: bytes, told: Told) -> Question:
        """See `ports.Upstreams`."""
        target = _target(route, path)
        fields = request_fields(host=target.host, streamed=False, length=len(body), client=())
        head = request_head(target.path, [*fields, *_authorization(route.provider)], method)
        question = Question(told, self._event_bytes, self._scrub)
        question.run(self.pool, target.origin, head, body)
        return question

    def retell(self, route: Route, path: str, tell: Callable[[UpstreamEvent], None]) -> Attempt:
        """See `ports.Upstreams`."""
        target = _target(route, path)
        fields = request_fields(host=target.host, streamed=True, length=0, client=())
        head = request_head(target.path, [*fields, *_authorization(route.provider)], "GET")
        call = Attempt(1, tell, self._reader_of(1, True), self._limits)
        call.run(self.pool, target.origin, head, b"")
        return call

    def close(self) -> None:
        """Close what is idle. Attempts in flight are their turns' to drop."""
        self.pool.close()

    def _reader_of(self, attempt: int, streamed: bool) -> Callable[[Head], Reader]:
        def choose(head: Head) -> Reader:
            return reader_for(
                head,
                attempt=attempt,
                streamed=streamed,
                event_bytes=self._event_bytes,
                limits=self._limits,
                scrub=self._scrub,
            )

        return choose

    def _scrub(self, text: bytes) -> bytes:
        """An upstream may repeat the credential that it refuses."""
        for secret in self._secrets:
            text = text.replace(secret.reveal().encode(), SCRUBBED)
        return text


class Attempt:
    """One request in flight: hears its connection (`Exchange`), obeys its turn (`ports.Call`)."""

    __slots__ = (
        "_answer_timer", "_choose", "_connection", "_limits", "_number", "_over", "_reader",
        "_tell", "_unread",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        tell: Callable[[UpstreamEvent], None],
        choose: Callable[[Head], Reader],
        limits: Limits,
    ) -> None:
        self._number = number
        self._tell = tell
        self._choose = choose
        self._limits = limits
        self._connection: Connection | None = None
        self._reader: Reader | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._over = False

    def run(self, pool: Pool, origin: Origin, head: bytes, body: bytes) -> None:
        """Start; once."""
        self._connection = pool.start(origin, self, head, body)

    # ---- Exchange

    def connected(self) -> None:
        self._say(Connected(self._number))

    def sent(self) -> None:
        self._say(Sent(self._number))

    def head(self, head: Head) -> None:
        fields = answer_fields(head.headers)
        self._say(Headed(self._number, head.status, request_id(head.headers), fields))
        self._reader = self._choose(head)
        del self._choose  # there is one head, and the body may last for minutes
        if isinstance(self._reader, Refusal) and not self._over:
            loop = asyncio.get_running_loop()
            self._answer_timer = loop.call_later(self._limits.answer_seconds, self._answer_late)
        self._say_all(self._reader.begin())

    def body(self, data: bytes) -> None:
        if self._reader is not None and not self._over:
            for event in self._reader.feed(data):
                self._say(event)

    def ended(self) -> None:
        self._connection = None
        self._end(None)

    def broke(self, reason: str) -> None:
        self._connection = None
        self._end(reason)

    # ---- Call

    def drop(self) -> None:
        self._leave()
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    def release(self) -> None:
        self._leave()
        if self._connection is not None:
            self._connection.drain()
            self._connection = None

    def pause(self) -> None:
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        if self._connection is not None:
            self._connection.resume()

    # ----

    def _end(self, torn: str | None) -> None:
        if self._reader is not None:
            self._say_all(self._reader.end(torn))
        elif torn is not None:
            self._say(Broke(self._number, torn))

    def _answer_late(self) -> None:
        """A refusal's body does not come to its end: the status is answer enough."""
        self._end("the rest of the answer did not come in time")

    def _say_all(self, events: Sequence[UpstreamEvent]) -> None:
        for event in events:
            self._say(event)

    def _say(self, event: UpstreamEvent) -> None:
        """Tell one event, unless the turn has left; after the last one there is nothing to do."""
        if self._over:
            return
        if type(event) in LAST:
            self.drop()
        self._tell(event)

    def _leave(self) -> None:
        self._over = True
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None


def _secrets(settings: Settings) -> tuple[Secret, ...]:
    keys = (provider.api_key for provider in settings.providers.values())
    return tuple(key for key in keys if key and len(key.reveal()) >= SCRUBBED_CHARACTERS)


def _target(route: Route, path: str = "/responses") -> Target:
    """`path`: below the provider's base_url."""
    provider = route.provider
    key = provider.api_key
    if key is not None and not sound(key.reveal()):
        raise ValueError(f"providers.{provider.name}.api_key: holds what a header cannot carry")
    try:
        return _address(route, path)
    except ValueError as fault:
        raise ValueError(f"providers.{provider.name}.base_url: {fault}") from None


def _address(route: Route, below: str) -> Target:
    """Raises ValueError, also as UnicodeError, for what is no address."""
    parts = urlsplit(route.provider.base_url)
    path = f"{parts.path}{below}"
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError("not an http or https address")
    if not sound(path) or " " in path:
        raise ValueError("its path must be escaped")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    name = parts.hostname.encode("idna").decode("ascii")
    netloc = parts.netloc.rpartition("@")[2].encode("idna").decode("ascii")
    return Target(Origin(parts.scheme == "https", name, port), netloc, path, route)


def _head(target: Target, request: Request, length: int) -> bytes:
    fields = request_fields(
        host=target.host, streamed=request.streamed, length=length, client=request.client_headers
    )
    return request_head(target.path, [*fields, *_authorization(target.route.provider)])


def _authorization(provider: Provider) -> Sequence[tuple[str, str]]:
    """The credential, revealed here and nowhere before."""
    if provider.api_key is None:
        return ()
    return (("authorization", f"Bearer {provider.api_key.reveal()}"),)
