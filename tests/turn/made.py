"""Turns, terms and frames, made short for the tests of this folder."""

from __future__ import annotations

from typing import Any

from latchway.turn import events as on
from latchway.turn.commands import Command
from latchway.turn.events import Binding, Place
from latchway.turn.machine import Terms, Turn
from latchway.wire.frame import Answer, Frame, Kind, Note, Usage

TEN_FIVE = Usage(input_tokens=10, output_tokens=5)
BOUND = 100
"""Bytes that may be held."""


def place(route: str = "a", **differs: Any) -> Place:
    values: dict[str, Any] = {"route": route, "binding": Binding.STATELESS, "another": True}
    return Place(**{**values, **differs})


def http(**differs: Any) -> Terms:
    """The terms of a streamed turn over HTTP."""
    values: dict[str, Any] = {
        "streamed": True,
        "status_line": True,
        "whole_pair": True,
        "acting_tools": False,
        "keepalive_seconds": 15.0,
        "pre_output_buffer_bytes": BOUND,
        "whole_answer_timeout_seconds": 600.0,
        "client_left_pays": True,
        "upstream_broke_pays": False,
        "replay_fault_code": "response_failed",
    }
    return Terms(**{**values, **differs})


def websocket(**differs: Any) -> Terms:
    """The terms of a turn over a WebSocket."""
    own: dict[str, Any] = {
        "status_line": False,
        "whole_pair": False,
        "keepalive_seconds": 0.0,
        "replay_fault_code": "websocket_response_failed",
    }
    return http(**{**own, **differs})


def frame(kind: Kind, *, size: int = 10, text_bytes: int = 0, **note: Any) -> Frame:
    """A frame of `size` bytes. Output has a note only if something is said in one."""
    said = Note(**note) if note or kind is not Kind.OUTPUT else None
    return Frame(kind, kind.value.encode(), b"x" * size, text_bytes, said)


CREATED = frame(Kind.LIFECYCLE, response_id="resp_1", created_at=7.0, model="m")
PROGRESS = frame(Kind.LIFECYCLE, response_id="resp_1")
PING = frame(Kind.NEUTRAL)
TEXT = frame(Kind.OUTPUT, text_bytes=4)
COMPLETED = frame(Kind.COMPLETED, response_id="resp_1", metered=True, usage=TEN_FIVE)
OVERLOADED = frame(Kind.FAILED, code="server_is_overloaded")
FINAL = frame(Kind.FAILED, code="invalid_prompt")
METERED = frame(Kind.FAILED, code="server_error", metered=True, usage=TEN_FIVE)
ERROR = frame(Kind.ERROR, code="server_error")
LIMITED = Answer(429, note=Note(code="rate_limit_exceeded", retry_after=7.0))


class Played:
    """A turn, its clock, and every command that it has given."""

    def __init__(self, terms: Terms | None = None, *, room: bool = True) -> None:
        self.turn = Turn(terms or http(), lambda: room)
        self.now = 100.0
        self.all: list[Command] = []

    def tell(self, *events: on.Event) -> list[Command]:
        """Tell events in order; the commands that the last one led to."""
        out: list[Command] = []
        for event in events:
            out = self.turn.handle(event, self.now)
            self.all += out
        return out

    def arrive(self, *frames: Frame, attempt: int = 1) -> list[Command]:
        """Frames of one read."""
        return self.tell(on.Arrived(attempt, frames))

    def wait(self, seconds: float) -> list[Command]:
        """Let time pass; a tick comes at the end of it, whether anything is due or not."""
        self.now += seconds
        return self.tell(on.Tick())

    def given(self, kind: type[Any]) -> list[Any]:
        """The commands of one kind, in order."""
        return [command for command in self.all if isinstance(command, kind)]


def calling(terms: Terms | None = None, *, room: bool = True, **of_place: Any) -> Played:
    """A turn whose first attempt has been asked and has said nothing yet."""
    played = Played(terms, room=room)
    played.tell(on.Begin(), on.RouteChosen(place(**of_place)), on.Reserved())
    played.tell(on.Connected(1), on.Sent(1))
    return played


def replaying(terms: Terms | None = None, **of_place: Any) -> Played:
    """A turn whose second attempt has been asked and has said nothing yet."""
    played = calling(terms, **of_place)
    played.arrive(CREATED, OVERLOADED)
    played.tell(on.RouteChosen(place("b")), on.ReplayRecorded())
    played.tell(on.Connected(2), on.Sent(2))
    return played
