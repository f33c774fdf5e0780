"""The client of a turn over HTTP: when the status line goes out, how frames are written (R5)."""

from __future__ import annotations

from typing import Any, Protocol

from latchway.ledger.prices import format_usd
from latchway.serve import answers
from latchway.serve.answers import Header
from latchway.turn import commands as do
from latchway.wire import errors
from latchway.wire.carried import carried
from latchway.wire.frame import Answer, Kind
from latchway.wire.meaning import TERMINAL

RETRY_AFTER = "retry-after"
COMMENT = b": keepalive\n\n"

LAST_KINDS = frozenset({Kind.COMPLETED, Kind.INCOMPLETE, Kind.FAILED})
"""Events that nothing of the turn can follow; an `error` may be the first of a pair."""


class Wire(Protocol):
    """Where an answer is written: one HTTP connection."""

    def write(self, data: bytes) -> None: ...
    def abort(self) -> None: ...


class HttpClient:
    """ports.Client of one `POST /v1/responses`.

    `chunked`: the client speaks HTTP/1.1; else the end of the body is the connection's.
    """

    __slots__ = (
        "_body_ended", "_chunked", "_head_sent", "_numbered", "_request_id", "_streamed",
        "_told_end", "_upstream_headers", "_wire", "close", "gone",
    )  # fmt: skip

    def __init__(
        self, wire: Wire, request_id: str, *, streamed: bool, chunked: bool, close: bool
    ) -> None:
        self._wire, self._request_id = wire, request_id
        self._streamed, self._chunked = streamed, chunked
        self.close = close or (streamed and not chunked)
        """The connection ends with this answer."""
        self.gone = False
        self._upstream_headers: tuple[Header, ...] = ()
        self._head_sent = False
        self._told_end = False
        self._body_ended = False
        self._numbered: bytes | None = None
        """The JSON of the last delivered event that has a sequence number."""

    # ---- ports.Client

    def upstream_headers(self, headers: tuple[Header, ...]) -> None:
        """`retry-after` is an error's, and told with one (`pass_answer`, `fail`)."""
        self._upstream_headers = tuple(each for each in headers if each[0] != RETRY_AFTER)

    def send_head(self, command: do.SendHead) -> None:
        """Early: the attempt may yet be replayed, so nothing of it goes out."""
        self._upstream_headers = ()
        self._write(self._stream_head(command.replay))

    def comment(self) -> None:
        self._write_body(COMMENT)

    def deliver(self, command: do.Deliver) -> None:
        frames = command.frames
        last = frames[-1]
        if not self._streamed:
            self._answer(200, last.block, self._whole_headers(command.replay))
            return
        self._numbered = answers.last_numbered(frames) or self._numbered
        opening = b"" if self._head_sent else self._stream_head(command.replay)
        self._told_end = last.kind in TERMINAL
        body = last.block if len(frames) == 1 else b"".join([frame.block for frame in frames])
        self._write_body(body, opening, last=last.kind in LAST_KINDS)

    def pass_answer(self, command: do.PassAnswer) -> None:
        answer = command.answer
        retryable = command.retryable and errors.may_be_sent_again(answer.note.code)
        headers = answers.error_headers(self._request_id, retryable, answer.note.retry_after)
        headers[0] = ("content-type", answer.content_type or answers.JSON_TYPE)
        headers += _allowed(answer) + _replay(command.replay)
        self._answer(answer.status, answer.body, headers)

    def fail(self, command: do.Fail) -> None:
        status, error = failure(command)
        if self._head_sent:
            self._fail_late(command, error)
            return
        headers = answers.error_headers(self._request_id, error["retryable"], error["retry_after"])
        headers += _replay(command.replay)
        self._answer(status, errors.http_body(error, self._request_id), headers)

    def end(self) -> None:
        """A body never ends cleanly without a terminal event: it is cut then, and so is an answer
        that never began."""
        if self.gone or self._body_ended:
            return
        if self._told_end:
            self._end_body()
        else:
            self._wire.abort()

    # ---- writing

    def _fail_late(self, command: do.Fail, error: dict[str, Any]) -> None:
        self._told_end = True
        data = errors.sse_failure(
            error,
            self._request_id,
            answers.sequence_after(self._numbered),
            command.response_id,
            command.created_at,
            command.model,
        )
        self._write_body(data, last=True)

    def _answer(self, status: int, body: bytes, headers: list[Header]) -> None:
        self._head_sent = self._body_ended = True
        self._write(answers.whole(status, body, headers, close=self.close))

    def _stream_head(self, replay: str | None) -> bytes:
        self._head_sent = True
        headers = [*answers.STREAM_HEADERS, ("x-request-id", self._request_id)]
        headers += [*_replay(replay), *self._upstream_headers]
        if self._chunked:
            headers.append(("transfer-encoding", "chunked"))
        if self.close:
            headers.append(("connection", "close"))
        return answers.head(200, headers)

    def _whole_headers(self, replay: str | None) -> list[Header]:
        headers = [("content-type", answers.JSON_TYPE), ("x-request-id", self._request_id)]
        return [*headers, *_replay(replay), *self._upstream_headers]

    def _write_body(self, body: bytes, opening: bytes = b"", *, last: bool = False) -> None:
        """One write; as one chunk, where there are any."""
        self._body_ended = last
        if self._chunked:
            ending = answers.LAST_CHUNK if last else b""
            self._write(b"%b%x\r\n%b\r\n%b" % (opening, len(body), body, ending))
        else:
            self._write(opening + body)

    def _end_body(self) -> None:
        self._body_ended = True
        if self._chunked:
            self._write(answers.LAST_CHUNK)

    def _write(self, data: bytes) -> None:
        if not self.gone:
            self._wire.write(data)


def failure(command: do.Fail) -> tuple[int, dict[str, Any]]:
    """A failure's status and error object, for either transport."""
    if command.answer is not None:
        return carried(command.answer, command.retryable)
    error = errors.error_object(
        command.code,
        _message(command),
        command.param,
        retryable=command.retryable,
        retry_after=command.retry_after,
    )
    return errors.status_of(command.code), error


def _message(command: do.Fail) -> str | None:
    if command.needed is None:
        return command.message
    return f"Up to {format_usd(command.needed)} USD is needed, more than the balance; add credit."


def _replay(value: str | None) -> list[Header]:
    return [] if value is None else [("x-latchway-replay", value)]


def _allowed(answer: Answer) -> list[Header]:
    """The answer's own headers that may pass, but for those that every error answer has."""
    return [header for header in answer.headers if header[0] != RETRY_AFTER]
