"""`make costs`: what each thing that the gateway does for a short turn costs by itself.

Its own functions on the bench's own bytes, in this one process: no socket, no loop, no second
thread. So the parts say what work costs while it is warm; what a turn costs under load, cold and
with the kernel's share, `make bench` says.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from socket import create_connection
from typing import Any, cast

from bench import behind
from bench.processes import running
from bench.stage import UPSTREAM
from bench.subjects import Place, configured
from bench.timing import ROUNDS, each_time, say
from latchway import config
from latchway.books import Asked, Books, Ports
from latchway.ledger import keys, reservation
from latchway.ledger.database import open_writer
from latchway.ledger.keys import Keys
from latchway.ledger.sqlite import Book
from latchway.log import store
from latchway.log.metrics import Metrics
from latchway.ports import Closing, Key, Opening
from latchway.routes.table import RouteTable
from latchway.serve.incoming import Incoming
from latchway.serve.reading import RequestReader
from latchway.settings import Settings
from latchway.terms import terms_of
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn.machine import Terms, Turn
from latchway.upstreams.http1 import AnswerReader
from latchway.values import replace
from latchway.wire import request as requests
from latchway.wire.frame import Frame
from latchway.wire.request import Request
from latchway.wire.sse import Parser

MODEL = "bench-10-0"
BATCH = 64
"""Turns in one commit, as many as come together in the workload `short`."""

OWNER = Key("bench", "bench")
ROUTE = f"upstream/{MODEL}"
MOST = 64 << 20
"""Bytes of an event, and of a head: no limit is met here."""

PLACE = on.Place(ROUTE, on.Binding.STATELESS, another=False)
OPENING: tuple[on.Event, ...] = (
    on.Begin(), on.RouteChosen(PLACE), on.Reserved(), on.Connected(1), on.Sent(1), on.Headed(1, 200)
)  # fmt: skip
"""What a turn is told before its first event."""

INPUT = "Where is my parcel? " * 50
BODY = (
    f'{{"stream":true,"model":"{MODEL}","store":false,"instructions":"Be brief.","input":[{{"type":'
    f'"message","role":"user","content":[{{"type":"input_text","text":"{INPUT}"}}]}}]}}'
)
"""As the load generator sends it."""


Part = tuple[str, Callable[[], object]]
"""What is done, and how."""


class NobodyListens:
    """Hears what a RequestReader tells."""

    def on_begin(self) -> None: ...
    def on_head(self, incoming: Incoming) -> None: ...
    def on_hopeless(self, incoming: Incoming) -> None: ...
    def on_request(self, incoming: Incoming) -> None: ...
    def on_upgrade(self, incoming: Incoming, rest: bytes) -> None: ...
    def on_unreadable(self, code: str, message: str) -> None: ...
    def on_fault(self, fault: BaseException) -> None: ...


class NothingKnown:
    """The ledger as the routes see it, where nobody has made anything."""

    def maker(self, owner: str, marks: object) -> str | None:
        return None

    def is_anothers(self, owner: str, marks: object) -> bool:
        return False


class LastRecord:
    """A log that keeps the last record."""

    def record(self, record: dict[str, Any]) -> None:
        self.last = record


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = config.load(configured(Place(folder, 1, 2, 3, MODEL), "latchway.yaml"))
        answer = _answer(folder)
        books, log = _books(settings)
        terms, frames = terms_of(_request(), settings), tuple(Parser(MOST).feed(_body_of(answer)))
        for what, do_it in [
            *_asked(settings),
            *_answered(answer),
            ("the turn: hold, latch, decisions", lambda: _play(terms, frames)),
            *_accounts(books, *_play(terms, frames)),
        ]:
            say(what, each_time(do_it))
        opening, closing = books.opening(ROUTE), _closing(books, _play(terms, frames)[0])
        ledger = _written(folder / "costs.db", opening, closing, log.last)
        say(f"the ledger and the log written, {BATCH} turns a commit", ledger)
        print("an event of plain output behind output:")
        for line in behind.costs(_begun(terms, frames), Parser(MOST), _body_of(answer)):
            say(*line)
    return 0


def _answer(folder: Path) -> bytes:
    """What the bench's upstream answers, as it comes."""
    with running([str(UPSTREAM)], "", folder / "log", heard=True) as upstream:
        assert upstream.stdout is not None
        with create_connection(("127.0.0.1", int(upstream.stdout.readline()))) as wire:
            head = f"POST /v1/responses HTTP/1.1\r\nHost: u\r\nContent-Length: {len(BODY)}"
            wire.sendall(f"{head}\r\n\r\n{BODY}".encode())
            answer = b""
            while not answer.endswith(b"\r\n0\r\n\r\n"):
                answer += wire.recv(1 << 16)
            return answer


# ---- the parts


def _asked(settings: Settings) -> Iterator[Part]:
    """From the client's bytes to the call."""
    secret, public_id = keys.mint()
    body = BODY.encode()
    head = f"POST /v1/responses HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {secret}\r\n"
    head += "Content-Type: application/json\r\nAccept: text/event-stream\r\n"
    sent = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    reader = RequestReader(NobodyListens(), settings.limits.request_bytes)
    yield "the client's request: head and body", lambda: reader.feed(sent)
    table = Keys()
    table.put(keys.KeyRow(OWNER, public_id, keys.digest(secret), False))
    yield "authentication", lambda: table.check(secret)
    request = _request()
    yield "the request parsed, and searched for what binds it", _request
    routes = RouteTable(settings, NothingKnown())
    yield "the choice of a route", lambda: routes.first(request, OWNER.owner)
    yield "the sum to reserve", lambda: reservation.amount(settings.models[MODEL], request)


def _answered(answer: bytes) -> Iterator[Part]:
    """From the upstream's bytes to frames."""
    yield "the upstream's answer: head and chunks", lambda: _body_of(answer)
    body = _body_of(answer)
    yield "its ten events cut, read and classified", lambda: Parser(MOST).feed(body)


def _accounts(books: Books, close: do.Close, finish: do.Finish) -> Iterator[Part]:
    """What is put down of the turn."""
    yield "the reservation made out", lambda: books.opening(ROUTE)
    yield "the settlement made out", lambda: _closing(books, close)
    yield "metrics and record", lambda: books.write(finish)


def _play(terms: Terms, frames: tuple[Frame, ...]) -> tuple[do.Close, do.Finish]:
    """A turn that goes well: how its money ends, and what is recorded of it."""
    turn = Turn(terms, lambda: True)
    events = [*OPENING, on.Arrived(1, frames), on.Closed()]
    commands = [each for at, event in enumerate(events) for each in turn.handle(event, float(at))]
    (close,) = (each for each in commands if isinstance(each, do.Close))
    finish = commands[-1]
    assert isinstance(finish, do.Finish), finish
    return close, finish


def _begun(terms: Terms, frames: tuple[Frame, ...]) -> Turn:
    """The same turn, of which all is delivered but its end."""
    turn = Turn(terms, lambda: True)
    for event in [*OPENING, on.Arrived(1, frames[:-1])]:
        turn.handle(event, 0.0)
    return turn


def _books(settings: Settings) -> tuple[Books, LastRecord]:
    log, routes = LastRecord(), RouteTable(settings, NothingKnown())
    ports = Ports(
        settings=settings,
        clock=cast(Any, None),  # this and what else is None has no part in the books
        wall=time.time,
        routes=cast(Any, routes),
        upstreams=cast(Any, None),
        ledger=cast(Any, None),
        log=cast(Any, log),
        metrics=Metrics(settings.models, [ROUTE]),
        served_by="host/1",
    )
    books = Books(ports, Asked("req_0", _request(), OWNER))
    books.opening(ROUTE)
    books.opened()
    return books, log


def _closing(books: Books, close: do.Close) -> Closing:
    """As the first time: a second closing of one turn would undo the first."""
    books._charge = None
    return books.closing(close, None)


def _written(file: Path, opening: Opening, closing: Closing, record: dict[str, Any]) -> float:
    """CPU of a turn's rows and of its share of their commits, in microseconds."""
    book = Book(open_writer(file))
    with book.transaction():
        book.begin_epoch("host/1")
        _, public_id = keys.mint()
        keys.create(book, keys.NewKey(OWNER.name, OWNER.owner, public_id, bytes(32), 10**15))
    best = float("inf")
    for number in range(ROUNDS):
        ids = [f"req_{number:04}{turn:04}" for turn in range(BATCH)]
        opened = [replace(opening, request_id=each) for each in ids]
        closed = [replace(closing, request_id=each) for each in ids]
        records = [{**record, "request_id": each} for each in ids]
        began = time.process_time()
        _commit(book, [partial(book.reserve, each) for each in opened])
        _commit(book, [partial(book.close, each) for each in closed])
        _commit(book, [partial(store.put, book.connection, each) for each in records])
        best = min(best, time.process_time() - began)
    book.connection.close()
    return best / BATCH * 1e6


def _commit(book: Book, steps: list[Callable[[], object]]) -> None:
    with book.transaction():
        for step in steps:
            step()


def _request() -> Request:
    return requests.parse(BODY.encode(), websocket=False)


def _body_of(answer: bytes) -> bytes:
    return AnswerReader(MOST).feed(answer)


if __name__ == "__main__":
    sys.exit(main())
