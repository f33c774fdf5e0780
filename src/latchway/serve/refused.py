"""The record of a turn that was refused before it began (R7)."""

from __future__ import annotations

from typing import Any

from latchway.books import Ports
from latchway.log import record as records
from latchway.ports import Key
from latchway.turn.commands import Delivered, Finish
from latchway.wire.request import Request

UNKNOWN_MODEL = ""
"""Of a request that could not be read."""


def refused_record(
    request_id: str,
    key: Key,
    request: Request | None,
    code: str,
    ports: Ports,
    *,
    websocket: bool,
) -> dict[str, Any]:
    """A record without attempts and without money."""
    finish = Finish(
        outcome="failed",
        code=code,
        binding=None,
        delivered=Delivered.NOTHING,
        replayed=False,
        response_id=None,
        attempts=(),
        began=0.0,
        first_output=None,
        ended=0.0,
        phase=None,
        held_seconds=0.0,
        released_by_timer=False,
    )
    asked = records.Asked(
        request_id=request_id,
        key=key.name,
        owner=key.owner,
        model=request.model if request else UNKNOWN_MODEL,
        transport="websocket" if websocket else "http",
        streamed=request.streamed if request else websocket,
        started_at=ports.wall(),
    )
    return records.record(finish, asked, records.Bill(), served_by=ports.served_by)
