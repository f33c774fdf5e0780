"""The client of a turn over WebSocket: no status line, and one terminal frame (R5, R8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from latchway.serve.frames import text_frames, valid_text
from latchway.serve.stream import failure
from latchway.turn import commands as do
from latchway.wire import errors
from latchway.wire.carried import wrap_ws_error
from latchway.wire.frame import Frame, Kind


class Wire(Protocol):
    """Where frames are written: one WebSocket connection."""

    def write(self, data: bytes) -> None: ...


class SocketClient:
    """ports.Client of one `response.create`."""

    def __init__(self, wire: Wire, request_id: str) -> None:
        self._wire, self._request_id = wire, request_id
        self.gone = False

    def upstream_headers(self, headers: tuple[tuple[str, str], ...]) -> None:
        """A turn on a socket has no headers of its own."""

    def send_head(self, command: do.SendHead) -> None:
        """Nor a status line."""

    def comment(self) -> None:
        """The connection is kept alive by pings."""

    def deliver(self, command: do.Deliver) -> None:
        self._send([each for frame in command.frames for each in self._messages(frame, command)])

    def _messages(self, frame: Frame, command: do.Deliver) -> Iterable[bytes]:
        if frame.kind is Kind.ERROR:
            return [wrap_ws_error(frame, self._request_id, command.retryable)]
        return map(valid_text, frame.payloads())

    def pass_answer(self, command: do.PassAnswer) -> None:
        """An HTTP answer has no bytes here; its error goes out in a frame."""
        answer = command.answer
        self.fail(do.Fail("upstream_error", None, command.retryable, answer=answer))

    def fail(self, command: do.Fail) -> None:
        status, error = failure(command)
        self._send([errors.ws_failure(error, status, self._request_id)])

    def end(self) -> None:
        """A frame needs no end, and the connection stays."""

    def _send(self, messages: list[bytes]) -> None:
        if not self.gone:
            self._wire.write(text_frames(messages))
