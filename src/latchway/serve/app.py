"""What a request means: who asks, which turn or page it is, and whether it may begin.

One per process. Connections come and go; the app knows them all, so that it can drain.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from latchway import drive
from latchway.books import Asked, Ports
from latchway.ledger.keys import Keys
from latchway.ports import Client, Key
from latchway.serve import answers, pages, plain
from latchway.serve.aborts import FreeAborts
from latchway.serve.figures import Figures, OwnFigures
from latchway.serve.files import Files
from latchway.serve.handshake import open_socket
from latchway.serve.incoming import Incoming
from latchway.serve.refused import refused_record
from latchway.serve.stream import HttpClient
from latchway.turn import commands as do
from latchway.upstreams.headers import CLIENT_HEADERS
from latchway.values import replace
from latchway.wire import request as requests
from latchway.wire.request import Request, RequestFault

if TYPE_CHECKING:
    from latchway.serve.http import Answering, HttpConnection
    from latchway.serve.websocket import SocketConnection

RESPONSES, COMPACT = "/v1/responses", "/v1/responses/compact"
TURNS = frozenset({RESPONSES, COMPACT})
"""A compaction is charged as a turn, and is never replayed (docs/http.md)."""
PIN_HEADER = "x-latchway-route"
HEADERS_OF_TURNS = CLIENT_HEADERS | {PIN_HEADER}
REQUEST_ID_BYTES = 6
"""Of chance, behind the time in milliseconds: two of one moment are alike once in 10^14. Ids that
rise with time cost the ledger half as much as ids of chance alone: its indexes grow at their ends.
"""

Reader = plain.Reader


class App:
    """Shared by all connections of a process. `reader`: queries for the plain endpoints; `figures`:
    of all processes, if there are others; `files`: None, it watches its own connections alone."""

    def __init__(
        self,
        ports: Ports,
        keys: Keys,
        reader: Reader,
        figures: Figures | None = None,
        files: Files | None = None,
    ) -> None:
        self.ports, self.keys, self.reader = ports, keys, reader
        self.figures = figures or OwnFigures(ports)
        self.settings, self.clock = ports.settings, ports.clock
        self.files = files or Files(self.clock.time)
        self.connections: set[HttpConnection] = set()
        self.sockets: set[SocketConnection] = set()
        self.turns: set[Answering] = set()
        """Turns, and responses that are told again."""
        self.draining = False
        self.drained: Callable[[], None] | None = None
        """Called when the last turn has ended while draining."""
        self.emptied: Callable[[], None] | None = None
        """Called when the last connection has ended while draining."""
        self._aborts = FreeAborts(ports.settings.billing.free_aborts_per_minute)

    def new_id(self) -> str:
        now_ms = int(self.ports.wall() * 1000)
        return f"req_{now_ms:012x}{os.urandom(REQUEST_ID_BYTES).hex()}"

    # ---- before a body is read

    def look(self, incoming: Incoming) -> None:
        """Decide on the head alone: an unknown path, a wrong key or a wrong type is refused before
        a byte of the body is kept."""
        plain.check_path(incoming)
        if incoming.refusal is None and incoming.path.startswith("/v1/"):
            incoming.key = self.authenticate(incoming)
            if incoming.key is None:
                incoming.refuse("invalid_api_key")
        if incoming.refusal is None and incoming.method == "POST":
            _check_types(incoming)
        length = incoming.headers.get("content-length", "")
        if length.isdigit() and int(length) > incoming.limit_bytes:
            incoming.refuse("request_too_large", f"The body is over {incoming.limit_bytes} bytes.")

    def authenticate(self, incoming: Incoming) -> Key | None:
        """The key in `Authorization: Bearer …`, if it is valid now."""
        return self.keys.check(incoming.bearer)

    # ---- a whole request

    def answer(self, connection: HttpConnection, incoming: Incoming) -> None:
        """Begin the turn, or answer the page or the refusal."""
        if incoming.path in TURNS and incoming.method == "POST":
            self._answer_turn(connection, incoming)
        else:
            plain.answer(self, connection, incoming)

    def _answer_turn(self, connection: HttpConnection, incoming: Incoming) -> None:
        request_id = self.new_id()
        request = self._asked(incoming)
        fault = incoming.refusal
        client = HttpClient(
            connection,
            request_id,
            streamed=request is not None and request.streamed,
            chunked=incoming.http11,
            close=not incoming.keep_alive or self.draining,
        )
        code = self.barred(incoming.key) if fault is None else None
        if request is None or incoming.key is None or fault is not None or code is not None:
            fail = code or _fail(fault)
            client.fail(fail)
            self.log_refusal(request_id, incoming.key, request, fail, websocket=False)
            connection.answer_ended(client.close)
            return
        asked = Asked(request_id, request, incoming.key)
        driver = self.turn(asked, client, connection.turn_ended)
        connection.turn_begins(client, driver)

    def _asked(self, incoming: Incoming) -> Request | None:
        """None: it is refused. The fault that says so is not kept: it has all frames down to where
        it was raised, and one of them would have it, a cycle with a whole body in it."""
        if incoming.refusal is not None:
            return None
        try:
            compacts = incoming.path == COMPACT
            return self.read(incoming.body, incoming.headers, websocket=False, compacts=compacts)
        except RequestFault as fault:
            incoming.refuse(fault.code, fault.message, fault.param)
            return None

    def read(
        self, body: bytes, headers: dict[str, str], *, websocket: bool, compacts: bool = False
    ) -> Request:
        """A body as a Request, with what its headers add. Raises RequestFault."""
        request = requests.parse(
            body,
            websocket=websocket,
            compacts=compacts,
            pinned_route=headers.get(PIN_HEADER),
            headers=headers,
        )
        passed = tuple((name, value) for name, value in headers.items() if name in CLIENT_HEADERS)
        return replace(request, client_headers=passed) if passed else request

    def headers_of_turns(self, headers: dict[str, str]) -> dict[str, str]:
        """Of a handshake: those that its turns are read with. A socket may be open for an hour, and
        does not keep the others."""
        return {name: value for name, value in headers.items() if name in HEADERS_OF_TURNS}

    def barred(self, key: Key | None) -> do.Fail | None:
        """Why no turn of this key may begin now, whatever it asks for."""
        if self.draining:
            return do.Fail("shutting_down", None, True)
        wait = self._aborts.wait(key.name, self.clock.time()) if key else None
        if wait is not None:
            return do.Fail(
                "rate_limit_exceeded", None, True, retry_after=wait,
                message="Too many turns of this key were left before their output.",
            )  # fmt: skip
        return None

    def turn(self, asked: Asked, client: Client, ended: Callable[[], None]) -> drive.Driver:
        """A turn that may begin. `ended` is called when it is over."""
        driver = drive.Driver(self.ports, asked, client, Over(self, ended))
        self.begins(driver)
        return driver

    def begins(self, answering: Answering) -> None:
        """A drain waits for it, and stops it when its time is over."""
        self.turns.add(answering)

    def is_over(self, answering: Answering) -> None:
        self.turns.discard(answering)
        if self.draining and not self.turns and self.drained is not None:
            self.drained()

    def count_abort(self, key: Key, finish: do.Finish) -> None:
        """Left before output, and before a result: that would have been charged."""
        left = finish.attempts and finish.attempts[-1].outcome == "client_disconnected"
        if left and finish.delivered is not do.Delivered.OUTPUT:
            self._aborts.note(key.name, self.clock.time())

    def log_refusal(
        self,
        request_id: str,
        key: Key | None,
        request: Request | None,
        fail: do.Fail,
        *,
        websocket: bool,
    ) -> None:
        """A refused turn of a valid key has a record too (R7); without one there is none."""
        if key is not None and self.keys.valid(key.name):
            record = refused_record(
                request_id, key, request, fail.code, self.ports, websocket=websocket
            )
            self.ports.log.record(record)

    # ---- a WebSocket

    def upgrade(self, connection: HttpConnection, incoming: Incoming, rest: bytes) -> None:
        """Open the WebSocket that was asked for, or say why not, before the upgrade."""
        if incoming.refusal is None and incoming.path != RESPONSES:
            incoming.refuse("not_found", "A WebSocket is opened at /v1/responses.")
        if incoming.refusal is None and self.draining:
            incoming.refuse("shutting_down")
        if incoming.refusal is not None:
            incoming.keep_alive = False
            pages.refuse(self, connection, incoming)
            return
        open_socket(self, connection, incoming, rest)

    # ---- the end

    def drain(self) -> None:
        """No new turns; what is idle closes; what runs goes on."""
        self.draining = True
        for connection in [each for each in self.connections if each.idle]:
            connection.close()
        for socket in list(self.sockets):
            socket.drain()

    def stop_turns(self) -> None:
        """The time to drain is over: end what still runs, with an error and a refund."""
        for answering in list(self.turns):
            answering.stop("shutting_down")

    def connection_ended(self) -> None:
        """One of them is over, and no longer among them."""
        empty = not self.connections and not self.sockets
        if self.draining and empty and self.emptied is not None:
            self.emptied()

    def close_connections(self) -> None:
        """The gateway leaves: nothing is in flight any more."""
        for connection in list(self.connections):
            connection.close()
        for socket in list(self.sockets):
            socket.drain()


class Over:
    """What is done when a turn is over. Of two fields: each open turn has one, and as a closure it
    would be of several objects."""

    __slots__ = ("_app", "_ended")

    def __init__(self, app: App, ended: Callable[[], None]) -> None:
        self._app, self._ended = app, ended

    def __call__(self, driver: drive.Driver, finish: do.Finish) -> None:
        self._app.count_abort(driver.asked.key, finish)
        self._ended()
        self._app.is_over(driver)


def _check_types(incoming: Incoming) -> None:
    kind = incoming.headers.get("content-type", answers.JSON_TYPE).partition(";")[0].strip().lower()
    if kind != answers.JSON_TYPE and not kind.endswith("+json"):
        incoming.refuse(
            "unsupported_media_type", f"Send the body as application/json, not {kind[:80]!r}."
        )
    coding = incoming.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        incoming.refuse(
            "unsupported_media_type", f"Send the body without content-encoding {coding[:40]!r}."
        )


def _fail(fault: RequestFault | None) -> do.Fail:
    if fault is None:
        return do.Fail("internal_error", None, False)
    return do.Fail(fault.code, None, False, param=fault.param, message=str(fault) or None)
