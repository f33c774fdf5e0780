"""Upstreams whose every byte is said by the test, at the moment that the test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from latchway.ports import Call
from latchway.settings import Route
from latchway.turn import events as on
from latchway.turn.events import Place, UpstreamEvent
from latchway.wire.frame import Answer, Frame
from latchway.wire.meaning import answer_note, frame
from latchway.wire.request import Request

USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}


def event(type: str, **members: Any) -> Frame:
    """One event as it comes over SSE."""
    data = msgspec.json.encode({"type": type, **members})
    return frame(data, b"event: %b\ndata: %b\n\n" % (type.encode(), data), type.encode())


def response(status: str, id: str = "resp_1", **members: Any) -> dict[str, Any]:
    return {"id": id, "object": "response", "status": status, "model": "m", **members}


def created(id: str = "resp_1") -> Frame:
    return event("response.created", sequence_number=0, response=response("in_progress", id))


def text(words: str = "Hello", number: int = 1) -> Frame:
    return event("response.output_text.delta", sequence_number=number, delta=words)


def completed(id: str = "resp_1", usage: Any = USAGE, number: int = 2) -> Frame:
    made = response("completed", id, usage=usage)
    return event("response.completed", sequence_number=number, response=made)


def failed(code: str = "server_is_overloaded", id: str = "resp_1", **members: Any) -> Frame:
    made = response("failed", id, error={"code": code, "message": "No."}, **members)
    return event("response.failed", sequence_number=1, response=made)


def error(code: str = "server_error", **members: Any) -> Frame:
    return event("error", sequence_number=1, error={"code": code, "message": "No.", **members})


def answer(status: int, body: Any = None) -> Answer:
    """An HTTP error answer."""
    data = msgspec.json.encode(body) if body is not None else b""
    return Answer(status, data, "application/json", (), answer_note(data))


class ScriptedStream(Call):
    """One call. The test says what its upstream does; `after` says how it was left."""

    def __init__(self, attempt: int, tell: Callable[[UpstreamEvent], None]) -> None:
        self.attempt = attempt
        self._tell = tell
        self.paused = False
        self.after: str | None = None
        """dropped | released; then no event may follow."""

    # ---- what the upstream does

    def takes_request(self) -> None:
        """Connected, and the request is written."""
        self.tell(on.Connected(self.attempt))
        self.tell(on.Sent(self.attempt))

    def heads(self, status: int = 200, **headers: str) -> None:
        self.takes_request()
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        self.tell(on.Headed(self.attempt, status, f"up_{self.attempt}", named))

    def sends(self, *frames: Frame) -> None:
        """Events of one read."""
        self.tell(on.Arrived(self.attempt, frames))

    def comments(self) -> None:
        self.tell(on.Commented(self.attempt))

    def answers(self, status: int, body: Any = None) -> None:
        self.heads(status)
        self.tell(on.Answered(self.attempt, answer(status, body)))

    def breaks(self) -> None:
        self.tell(on.Broke(self.attempt, "reset"))

    def tell(self, event: UpstreamEvent) -> None:
        if self.after is None:
            self._tell(event)

    # ---- ports.Call

    def drop(self) -> None:
        self.after = "dropped"

    def release(self) -> None:
        self.after = "released"

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False


class ScriptedCall(ScriptedStream):
    """One attempt of a turn."""

    def __init__(
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> None:
        super().__init__(attempt, tell)
        self.place, self.request = place, request


class ScriptedUpstreams:
    """`ports.Upstreams`; `calls` in the order in which they were opened."""

    def __init__(self) -> None:
        self.calls: list[ScriptedCall] = []
        self.asked: list[tuple[str, str, str, bytes]] = []
        """Plain questions: route, method, path, body."""
        self.kept: Answer | str | None = None
        """What they are answered; None: nothing comes."""
        self.given_up = 0
        self.retold: list[tuple[str, str, ScriptedStream]] = []
        """Responses that are told again: route, path, the stream."""

    def open(
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> ScriptedCall:
        call = ScriptedCall(attempt, place, request, tell)
        self.calls.append(call)
        return call

    def ask(
        self,
        route: Route,
        method: str,
        path: str,
        body: bytes,
        told: Callable[[Answer | str], None],
    ) -> ScriptedUpstreams:
        self.asked.append((route.name, method, path, body))
        if self.kept is not None:
            asyncio.get_running_loop().call_soon(told, self.kept)
        return self

    def give_up(self) -> None:
        self.given_up += 1

    def retell(
        self, route: Route, path: str, tell: Callable[[UpstreamEvent], None]
    ) -> ScriptedStream:
        stream = ScriptedStream(1, tell)
        self.retold.append((route.name, path, stream))
        return stream
