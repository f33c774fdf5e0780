"""What is done to a server while it works, and what the rules say about it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clients.leaving import wait_until
from servers.asks import FEW
from servers.expected import (
    BEGUN,
    BROKE_AFTER_TEXT,
    FELL_SILENT,
    NEVER_REACHED,
    NEVER_SPOKE,
    REPLAYED,
    SILENT_AFTER_HOLD,
    SILENT_AFTER_TEXT,
    Expected,
)
from servers.playing import Played, play
from servers.process import Process
from servers.server import Server
from servers.stage import GONE, HELD, HURT, Stage
from servers.vias import EVERY, RAW, SDK_STREAM, SOCKET, SSE, Turn, Via

MANY = 300
"""Tokens. A server has not said them all when it is hurt."""
READING_SECONDS = 0.5
"""After this, a server that has the request is amid the prompt."""
REACH_SECONDS = 60.0
IDLE_SECONDS = 120.0

CREATED = b"response.created"


@dataclass(frozen=True, slots=True)
class Hurt:
    """`before`: what the rules say if the server has sent nothing; `begun`: if it has begun."""

    name: str
    do: Callable[[Process], None]
    before: Expected
    begun: Expected
    vias: tuple[Via, ...]
    model: str = HURT
    after_text: bool = False

    def expected(self, server: Server, via: Via) -> Expected:
        """An answer that is not streamed begins with its end."""
        return self.begun if server.speaks_first and via.streams else self.before


STOPS = (
    Hurt("stopped before text", Process.stop, NEVER_SPOKE, FELL_SILENT, (*RAW, SDK_STREAM)),
    Hurt("stopped after text", Process.stop, SILENT_AFTER_TEXT, SILENT_AFTER_TEXT, (SSE, SOCKET),
         after_text=True),
)  # fmt: skip
HELD_STOP = Hurt("stopped before text; what was held has gone out", Process.stop,
                 SILENT_AFTER_HOLD, SILENT_AFTER_HOLD, (SSE, SOCKET), HELD)  # fmt: skip
KILLS = (
    Hurt("killed before text", Process.kill, REPLAYED, BEGUN, (*RAW, SDK_STREAM)),
    Hurt("killed after text", Process.kill, BROKE_AFTER_TEXT, BROKE_AFTER_TEXT, (SSE, SOCKET),
         after_text=True),
)  # fmt: skip


def hurt_all(stage: Stage) -> Iterator[Played]:
    """Everything that is done to the server; at the end it is dead. Raises Unavailable."""
    held = (HELD_STOP,) if stage.server.speaks_first else ()
    for hurt in (*STOPS, *held):
        for via in hurt.vias:
            yield _play(stage, hurt, via)
            stage.first.resume()
            _until_idle(stage.first, stage.model)
    kills = [(hurt, via) for hurt in KILLS for via in hurt.vias]
    yield _play(stage, *kills[0])
    for hurt, via in kills[1:]:
        stage.first.start()
        yield _play(stage, hurt, via)
    for via in EVERY:
        yield play(stage, ("not running", NEVER_REACHED), via, GONE, {"max_output_tokens": FEW})


def _play(stage: Stage, hurt: Hurt, via: Via) -> Played:
    def amid(turn: Turn, label: str) -> None:
        if hurt.after_text:
            turn.read_text()
        else:
            _until_begun(stage, via, label)
        hurt.do(stage.first)

    if hurt.after_text:
        request = {"input": "Tell a long story about a bridge.", "max_output_tokens": MANY}
    else:
        request = {"input": stage.server.long_prompt(), "max_output_tokens": FEW}
    return play(
        stage, (hurt.name, hurt.expected(stage.server, via)), via, hurt.model, request, amid
    )


def _until_begun(stage: Stage, via: Via, label: str) -> None:
    """Until it reads the prompt: its first event is out, or it has the request and says nothing."""
    speaks = stage.server.speaks_first and via.streams
    tap = stage.taps[0]
    wait_until(lambda: tap.has_passed(label, CREATED if speaks else b""), REACH_SECONDS)
    if not speaks:
        threading.Event().wait(READING_SECONDS)


def _until_idle(server: Process, model: str) -> None:
    """Until what it was stopped amid is done or given up: it answers somebody else."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=IDLE_SECONDS)
    request = {"model": model, "input": "Ready?", "stream": False, "max_output_tokens": 1}
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/responses", json.dumps(request), headers)
    assert connection.getresponse().status == 200
    connection.close()
