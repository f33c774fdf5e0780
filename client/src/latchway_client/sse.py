"""Bytes of a body to events: server-sent events, in whatever pieces they come.

Lines end with CR LF, LF or CR, as the standard says; the line separators that may stand in JSON
end none, so that the text is cut as bytes and decoded after.
"""

from __future__ import annotations

from latchway_client.ends import Break, How
from latchway_client.events import Event, read
from latchway_client.limits import BODY_BYTES, EVENT_BYTES

BOM = b"\xef\xbb\xbf"
LINE_ENDS = (b"\r", b"\n")
DONE = b"[DONE]"
COMMENT = b":"
"""Some servers send their keep-alive comments as data; JSON never begins so."""


BEGINS = tuple(mark + begin for mark in (b"", BOM) for begin in (b":", b"data:", b"event:", b"id:"))
"""How a stream begins, also one that ended before its first event was whole."""


class SseReader:
    """One body. `done`: nothing of it counts any more."""

    def __init__(self) -> None:
        self.done = False
        self._found = False
        self._body = bytearray()
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._name = ""
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The next bytes; the events that they complete. Raises Break for one that never ends."""
        if not self._found:
            self._body += chunk[: BODY_BYTES - len(self._body)]
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        found = []
        for piece in chunk.splitlines(keepends=True):
            self._grow(piece)
            if piece.endswith(LINE_ENDS) and not self.done:
                found += self._line_ends()
        return found

    def end(self) -> Break:
        """What it means that the body ends here, without a terminal event."""
        body = self._body.decode(errors="replace")
        if self._found or self.done or not body.strip() or self._body.startswith(BEGINS):
            return Break(How.CLEAN_END, "the body ended without a terminal event")
        message = "status 200, but the body is no event stream"
        return Break(How.NO_STREAM, message, status=200, body=body)

    def _grow(self, piece: bytes) -> None:
        self._line += piece
        self._size += len(piece)
        if self._size > EVENT_BYTES:
            raise Break(How.BROKEN, f"an event is longer than {EVENT_BYTES} bytes")

    def _line_ends(self) -> list[Event]:
        line = bytes(self._line).rstrip(b"\r\n").removeprefix(BOM)
        self._line.clear()
        if not line:
            return self._event_ends()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode(errors="replace")
        return []

    def _event_ends(self) -> list[Event]:
        data, name = b"\n".join(self._data), self._name
        self._data, self._name, self._size = [], "", 0
        self.done = data == DONE
        if not data or self.done or data.startswith(COMMENT):
            return []
        self._found = True
        self._body.clear()
        return [read(data, name)]
