"""A stored response's events, told again from where the client asks (`starting_after`).

Not a turn: the response is there already, so nothing is held, replayed, reserved or logged. As in a
turn, events pass byte for byte, and the body never ends cleanly without a terminal event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from latchway.ports import Call, Granted, Unavailable
from latchway.serve.stream import LAST_KINDS, HttpClient
from latchway.serve.timers import Timers
from latchway.turn import commands as do
from latchway.turn import events as on
from latchway.turn import failures
from latchway.turn.limits import PAIR_WAIT_SECONDS
from latchway.wire.frame import Frame, Kind, Note

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection
    from latchway.serve.incoming import Incoming
    from latchway.serve.passed import Question


def retell(app: App, connection: HttpConnection, incoming: Incoming, question: Question) -> None:
    """Answer with the stream. While the gateway drains, no stream begins."""
    close = not incoming.keep_alive or app.draining
    client = HttpClient(
        connection, app.new_id(), streamed=True, chunked=incoming.http11, close=close
    )
    if app.draining:
        client.fail(do.Fail("shutting_down", None, True))
        connection.answer_ended(client.close)
        return
    retelling = Retelling(app, client, question, connection.turn_ended)
    connection.turn_begins(client, retelling)


class Retelling:
    """One such stream under way: obeys its connection (`http.Answering`), hears its upstream."""

    def __init__(
        self, app: App, client: HttpClient, question: Question, ended: Callable[[], None]
    ) -> None:
        self._app, self._client, self._question, self._ended = app, client, question, ended
        self._timers = Timers(app.clock)
        self._call: Call | None = None
        self._slow = False
        self._told: Kind | None = None
        """The class of the last event that was passed on."""
        self._known = Note()
        self._made: dict[bytes, None] = {}

    # ---- what the connection tells

    def begin(self) -> None:
        self._app.begins(self)
        question = self._question
        self._call = self._app.ports.upstreams.retell(question.route, question.path, self._hear)
        if self._slow:
            self._call.pause()
        self._watch()

    def client_gone(self) -> None:
        self._end()

    def pause(self) -> None:
        self._slow = True
        self._timers.cancel("silence")
        if self._call is not None:
            self._call.pause()

    def resume(self) -> None:
        self._slow = False
        if self._call is not None:
            self._call.resume()
            self._watch()

    def stop(self, code: str) -> None:
        """The gateway ends it."""
        self._fail(code)

    # ---- what the upstream tells

    def _hear(self, event: on.UpstreamEvent) -> None:
        heard = HEARD.get(type(event))
        if heard is not None:
            heard(self, event)
        if self._call is not None and self._told is not Kind.ERROR:
            self._watch()

    def _watch(self) -> None:
        """The clock of a silent upstream; a client that is slow has stopped it."""
        route = self._question.route
        begun = self._told is not None
        seconds = route.idle_timeout_seconds if begun else route.first_event_timeout_seconds
        code = "stream_idle_timeout" if begun else "first_event_timeout"
        if not self._slow:
            self._timers.after("silence", seconds, lambda: self._fail(code))

    def _headed(self, event: on.Headed) -> None:
        self._client.upstream_headers(event.headers)

    def _arrived(self, event: on.Arrived) -> None:
        frames = _up_to_the_end(event.frames)
        for frame in frames:
            self._note(frame)
        self._client.deliver(do.Deliver(frames, None))
        if self._told in LAST_KINDS:
            self._end()
        elif self._told is Kind.ERROR:  # a `response.failed` may follow (R2, "Pairs")
            self._timers.after("silence", PAIR_WAIT_SECONDS, self._end)
        else:
            self._comment_later()

    def _note(self, frame: Frame) -> None:
        self._told = frame.kind
        self._made.update(dict.fromkeys(frame.made))
        if frame.note is not None and frame.note.response_id is not None:
            self._known = frame.note

    def _comment_later(self) -> None:
        seconds = self._app.settings.turn.keepalive_seconds
        if seconds > 0:
            self._timers.after("comment", seconds, self._comment)

    def _comment(self) -> None:
        self._client.comment()
        self._comment_later()

    def _answered(self, event: on.Answered) -> None:
        answer = event.answer
        if answer.status == 401:
            self._fail("upstream_auth_error")
        elif 300 <= answer.status <= 399:
            self._fail("stream_read_error")
        elif answer.status < 300:
            self._client.fail(do.Fail("upstream_error", None, False, answer=answer))
            self._end()
        else:
            again = failures.of_answer(answer).replayable
            self._client.pass_answer(do.PassAnswer(answer, None, again))
            self._end()

    def _broke(self, event: on.Broke | on.Oversized) -> None:
        self._fail("stream_read_error")

    # ---- the end

    def _fail(self, code: str) -> None:
        """Say why it goes no further, unless an `error` has said it."""
        known = self._known
        if self._told is not Kind.ERROR:
            self._client.fail(
                do.Fail(
                    code, None, self._told is None, response_id=known.response_id,
                    created_at=known.created_at, model=known.model,
                )
            )  # fmt: skip
        self._end()

    def _end(self) -> None:
        """Once: after it the upstream has nothing more to tell, for it was left."""
        call, self._call = self._call, None
        if call is None:
            return
        self._timers.stop()
        (call.release if self._told in LAST_KINDS else call.drop)()
        if self._made:
            route, made = self._question.route.name, tuple(self._made)
            self._app.ports.ledger.remember(self._question.owner, route, made, _nobody_waits)
        self._client.end()
        self._ended()
        self._app.is_over(self)


def _up_to_the_end(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Nothing follows a terminal event."""
    last = next((n for n, frame in enumerate(frames) if frame.kind in LAST_KINDS), len(frames))
    return frames[: last + 1]


def _nobody_waits(answer: Granted | Unavailable) -> None:
    """What could not be noted is told again by whoever asks again."""


HEARD: dict[type[on.UpstreamEvent], Callable[[Retelling, Any], None]] = {
    on.Headed: Retelling._headed,
    on.Arrived: Retelling._arrived,
    on.Answered: Retelling._answered,
    on.Broke: Retelling._broke,
    on.Oversized: Retelling._broke,
}
"""What is more than a sign of life."""
