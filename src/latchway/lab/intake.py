"""HTTP requests from bytes, by llhttp: each whole with its body, within the lab's limits."""

from __future__ import annotations

from collections.abc import Callable

import httptools

from latchway.lab.calls import Received

MAX_HEAD_BYTES = 64 << 10
"""Path and headers of a request; no server on the way would take more."""
MAX_BODY_BYTES = 128 << 20
"""A request's body, a WebSocket's message: all that a gateway could be told to let through."""


class Refused(Exception):
    """A request that cannot be read; `status` is the answer, the connection ends with it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Intake:
    """Feed it bytes; `done` is called for each whole request."""

    def __init__(self, done: Callable[[Received], None]) -> None:
        self._done = done
        self._parser = httptools.HttpRequestParser(self)
        self.on_message_begin()

    def feed(self, data: bytes) -> bytes | None:
        """None; or, after a WebSocket's handshake, the bytes that follow it. Raises Refused."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return data[upgrade.args[0] :]
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, Refused):
                raise error.__context__ from error
            raise
        except httptools.HttpParserError as error:
            raise Refused(400, f"no valid HTTP/1.1: {error}") from error
        return None

    # ---- httptools' callbacks

    def on_message_begin(self) -> None:
        self._path = b""
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._head_bytes = self._body_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._path += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))
        self._count_head(len(name) + len(value))

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            raise Refused(431, f"path and headers are over {MAX_HEAD_BYTES} bytes")

    def on_body(self, data: bytes) -> None:
        self._body.append(data)
        self._body_bytes += len(data)
        if self._body_bytes > MAX_BODY_BYTES:
            raise Refused(413, f"the body is over {MAX_BODY_BYTES} bytes")

    def on_message_complete(self) -> None:
        upgrade = self._parser.should_upgrade()
        self._done(
            Received(
                transport="websocket" if upgrade and self._asks_for_websocket() else "http",
                method=self._parser.get_method().decode("ascii"),
                path=self._path.decode("latin-1"),
                headers=tuple(self._headers),
                body=b"".join(self._body),
                keep_alive=self._parser.should_keep_alive() and not upgrade,
            )
        )

    def _asks_for_websocket(self) -> bool:
        return any(n.lower() == "upgrade" and v.lower() == "websocket" for n, v in self._headers)
