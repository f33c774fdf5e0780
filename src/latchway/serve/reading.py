"""Bytes of a connection to requests, one after another (RFC 9112).

The parser is llhttp, which refuses what could be read in two ways (two lengths, bare line feeds,
folded headers …). It keeps the parts of what is not whole yet, so whatever is no body is bounded
here.
"""

from __future__ import annotations

from typing import Protocol

import httptools

from latchway.serve import limits
from latchway.serve.incoming import Incoming


class Listener(Protocol):
    """A connection, which is told of the requests that come."""

    def on_begin(self) -> None:
        """The first byte of a request's head came."""

    def on_head(self, incoming: Incoming) -> None:
        """Its head is whole."""

    def on_hopeless(self, incoming: Incoming) -> None:
        """Its body is longer than is worth reading."""

    def on_request(self, incoming: Incoming) -> None:
        """It is all there."""

    def on_upgrade(self, incoming: Incoming, rest: bytes) -> None:
        """It asks for a WebSocket; `rest` is of the protocol that follows. No request will."""

    def on_unreadable(self, code: str, message: str) -> None:
        """What came is no request, and nothing after it can be understood either."""

    def on_fault(self, fault: BaseException) -> None:
        """A bug of ours, in what it did when it was told."""


class RequestReader:
    """Feed it every read, in order. `stopped`: nothing more is read; the bytes fed are dropped."""

    __slots__ = (
        "_limit", "_listener", "_more", "_parser", "_still", "_still_bytes", "incoming", "stopped",
    )  # fmt: skip

    def __init__(self, listener: Listener, body_limit_bytes: int) -> None:
        self.incoming: Incoming | None = None
        """The request under way."""
        self.stopped = False
        self._listener, self._limit = listener, body_limit_bytes
        self._parser: httptools.HttpRequestParser | None = None
        """Of the request under way: it is large, and not kept while an answer is written."""
        self._more = False
        """Another request may follow the last one, which is whole."""
        self._still: tuple[Incoming, int] | None = None
        self._still_bytes = 0
        """What was last heard of a body, and how many bytes came since that are none of it."""

    def feed(self, data: bytes) -> None:
        while data and not self.stopped:
            data = self._parse(data)

    def leave(self) -> None:
        """Nothing more is fed. It, its parser and its listener hold each other: apart, each goes
        when it is done with, and the collector is left nothing to find."""
        self.stopped = True
        del self._parser, self._listener

    def _parse(self, data: bytes) -> bytes:
        """What is left is for another parser: this one has seen an upgrade, and ends."""
        if self._parser is None:
            self._parser = httptools.HttpRequestParser(self)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return self._upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserCallbackError as fault:
            self._listener.on_fault(fault.__context__ or fault)
        except httptools.HttpParserError:
            self._unreadable()
        else:
            self._bound(len(data))
        if self._more and self.incoming is None and not self.stopped:
            self._parser = None
        return b""

    def _upgrade(self, rest: bytes) -> bytes:
        """A WebSocket, or an upgrade that is not taken: then HTTP/1.1 goes on."""
        incoming = self.incoming
        if self.stopped or (incoming is None and self._more):
            self.incoming = self._parser = None
        elif incoming is not None and incoming.upgrade:
            self.incoming = None
            self._listener.on_upgrade(incoming, rest)
            return b""
        else:
            self._read_behind(b"connection: close\r\n" if incoming is None else incoming.framing)
        return rest

    def _read_behind(self, fields: bytes) -> None:
        """A parser that has seen an upgrade reads no body, nor that nothing may follow. Another one
        gets a head of the same `fields`, of which nobody is told; it may find fault with them, as
        the first did not."""
        incoming, self._parser = self.incoming, httptools.HttpRequestParser(self)
        self.stopped = True
        try:
            self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n" % fields)
        except httptools.HttpParserError:
            self.stopped = False
            self._unreadable()
        else:
            self.stopped, self.incoming = False, incoming

    def _unreadable(self) -> None:
        self._listener.on_unreadable("invalid_request", "The bytes are no HTTP/1.1 request.")

    def _bound(self, size: int) -> None:
        """A head that does not end, trailers, a chunk's extensions: nobody may grow them for ever,
        whether whole lines or a single one."""
        incoming = self.incoming
        state = (incoming, incoming.received) if incoming is not None else None
        self._still_bytes = self._still_bytes + size if state == self._still else 0
        self._still = state
        if state is not None and self._still_bytes > limits.HEADER_BYTES:
            message = f"The head is over {limits.HEADER_BYTES} bytes."
            self._listener.on_unreadable("request_too_large", message)

    # ---- httptools

    def on_message_begin(self) -> None:
        self.incoming = Incoming(self._limit)
        if not self.stopped:
            self._listener.on_begin()

    def on_url(self, url: bytes) -> None:
        self._under_way.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._under_way.on_header(name, value)

    def on_headers_complete(self) -> None:
        incoming, parser = self._under_way, self._parser
        assert parser is not None
        incoming.on_head(
            parser.get_method().decode("latin-1"),
            parser.get_http_version(),
            keep_alive=parser.should_keep_alive(),
            upgrade=parser.should_upgrade(),
        )
        if not self.stopped:
            self._listener.on_head(incoming)

    def on_body(self, body: bytes) -> None:
        incoming = self._under_way
        incoming.on_body(body)
        if incoming.hopeless and not self.stopped:
            self._listener.on_hopeless(incoming)

    def on_message_complete(self) -> None:
        incoming, parser = self._under_way, self._parser
        assert parser is not None
        unread = parser.should_upgrade() and (incoming.upgrade or incoming.has_body)
        if not unread and not self.stopped:
            self.incoming, self._more = None, incoming.keep_alive
            self._listener.on_request(incoming)

    @property
    def _under_way(self) -> Incoming:
        assert self.incoming is not None
        return self.incoming
