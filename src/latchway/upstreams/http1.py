"""One HTTP/1.1 exchange (RFC 9112), without I/O: its request's head, its answer, its listener."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import httptools

from latchway.upstreams.headers import keep_alive_seconds


@dataclass(frozen=True, slots=True)
class Head:
    """A status line and its header fields."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; values of a repeated name joined by a comma (RFC 9110 5.3)."""

    @property
    def content_type(self) -> str:
        """Without parameters, in lower case; empty if it is not said."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def plain(self) -> bool:
        """Is the body as it was asked for, `identity`, and not something compressed?"""
        return self.headers.get("content-encoding", "identity").strip().lower() in ("", "identity")

    @property
    def says_its_length(self) -> bool:
        """Is the body's end told apart from the connection's (RFC 9112 6.3)?"""
        return not self.headers.keys().isdisjoint(("transfer-encoding", "content-length"))


def request_head(target: str, fields: Iterable[tuple[str, str]], method: str = "POST") -> bytes:
    """The head of a request. The caller has checked that no value holds a control character."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


class Exchange(Protocol):
    """Who is told what happens to one request. From within `Connection.start` no more than that it
    is `connected` and `sent`."""

    def connected(self) -> None:
        """The request can be written."""

    def sent(self) -> None:
        """The transport holds no more of the request. (Below TLS a last record may wait.)"""

    def head(self, head: Head) -> None: ...

    def body(self, data: bytes) -> None:
        """All of the body that one read brought, in one piece."""

    def ended(self) -> None:
        """The body ended cleanly. The last call."""

    def broke(self, reason: str) -> None:
        """There will be no clean end. The last call."""


class _Nobody:
    """Listens to an exchange whose owner has left."""

    def connected(self) -> None: ...
    def sent(self) -> None: ...
    def head(self, head: Head) -> None: ...
    def body(self, data: bytes) -> None: ...
    def ended(self) -> None: ...
    def broke(self, reason: str) -> None: ...


NOBODY = _Nobody()


class AnswerReader:
    """Reads the one answer of one request.

    Interim answers (1xx) are skipped. `fault` is set, in words, once the bytes stop making sense;
    what came before stays good. Methods named `on_…` are the parser's, and nobody else's.
    """

    __slots__ = (
        "_body", "_fields", "_good", "_head_bytes", "_keep_alive", "_max_head_bytes", "_parser",
        "_says_its_length", "_unfinished_bytes", "complete", "extra", "fault", "head", "headed",
        "kept_seconds", "on_body",
    )  # fmt: skip

    def __init__(self, max_head_bytes: int) -> None:
        self.head: Head | None = None
        """Once it has come, until it is taken."""
        self.headed = False
        self.kept_seconds: float | None = None
        """How long the server keeps the connection; None: not said."""
        self._says_its_length = True
        self.complete = False
        self.extra = False
        self.fault: str | None = None
        self._max_head_bytes = max_head_bytes
        self._head_bytes = 0
        self._unfinished_bytes = 0
        self._fields: dict[str, str] = {}
        self._body: list[bytes] = []
        self._good: int | None = None
        """Pieces of the body that came before its end, or before the fault; None: all, so far."""
        self.on_body = self._body.append
        """The parser's call for each chunk, of which a read may bring hundreds: no code of ours."""
        self._keep_alive = False
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bytes:
        """Read on; returns what of the answer's body is in `data`."""
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as fault:
            self._stumble(f"the upstream's answer is not HTTP/1.1: {fault}")
        pieces = self._body
        if self._good is not None:
            del pieces[self._good :]
            self._good = 0
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if body or self.complete:
            self._unfinished_bytes = 0
        else:
            self._bound(len(data))
        return body

    def take_head(self) -> Head | None:
        """The head, once: its fields are not kept while the body comes, which may take minutes."""
        head, self.head = self.head, None
        return head

    def end_of_input(self) -> bool:
        """The peer has closed. True if that, and nothing else, ends this body (RFC 9112 6.3)."""
        self.complete = self.complete or self._ends_with_the_connection()
        return self.complete

    def leave(self) -> None:
        """Nothing more is fed. It and its parser hold each other: apart, each goes when it is done
        with, and the collector is left nothing to find."""
        del self._parser

    @property
    def reusable(self) -> bool:
        """May the connection carry another request? Only after a clean end and nothing more."""
        return self.complete and self._keep_alive and not self.extra and self.fault is None

    def on_message_begin(self) -> None:
        self.extra = self.complete

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + len(b": \r\n")
        if self._head_bytes > self._max_head_bytes:
            self._stumble("the upstream's header fields are too long")
        if not self.headed:
            self._keep(name.decode("latin-1").lower(), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if not self.headed and self.fault is None and status >= 200:
            self._begin_body(Head(status, self._fields))
        if status == 101:
            self._stumble("the upstream switched to a protocol that was not asked for")
        self._fields = {}

    def on_message_complete(self) -> None:
        if self.headed:
            self.complete = True
            self._end_body()

    def _keep(self, name: str, value: str) -> None:
        earlier = self._fields.get(name)
        self._fields[name] = value if earlier is None else f"{earlier}, {value}"

    def _begin_body(self, head: Head) -> None:
        self.head, self.headed = head, True
        self.kept_seconds = keep_alive_seconds(head.headers)
        self._says_its_length = head.says_its_length
        self._keep_alive = self._parser.should_keep_alive()
        self._refuse_strange_framing()

    def _refuse_strange_framing(self) -> None:
        coding = self._fields.get("transfer-encoding", "chunked").strip().lower()
        if coding != "chunked":
            self._stumble("the upstream used a transfer coding that was not asked for")

    def _ends_with_the_connection(self) -> bool:
        return self.headed and not self._says_its_length

    def _bound(self, unfinished: int) -> None:
        """Bytes that ended neither a field nor a piece of body pile up in the parser."""
        self._unfinished_bytes += unfinished
        if self._unfinished_bytes > self._max_head_bytes:
            self._stumble("the upstream's header fields are too long")

    def _stumble(self, fault: str) -> None:
        if self.complete:
            self.extra = True
        elif self.fault is None:
            self.fault = fault
            self._end_body()

    def _end_body(self) -> None:
        """What is read from here on is no part of the answer's body."""
        if self._good is None:
            self._good = len(self._body)
