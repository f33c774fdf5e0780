"""The core: events go in, in the order of their coming; what they mean for the turn comes out.

It does no I/O and knows no transport, so that each rule stands here once, for SSE and WebSocket,
sync and async. A shell feeds it, and tells it how its transport broke where no terminal event came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from latchway_client import events
from latchway_client.calls import Calls
from latchway_client.ends import Break, Failure, How, Result
from latchway_client.events import (
    Class,
    Event,
    class_of,
    error_levels,
    items_of,
    mapping_of,
    text_of,
)
from latchway_client.limits import EXCERPT_CHARACTERS
from latchway_client.request import state_of
from latchway_client.retryable import CLOSE_CODES, by_code, by_status
from latchway_client.text import Text, output_text
from latchway_client.waiting import retry_after

REQUEST_ID = "x-request-id"
SHOULD_RETRY = "x-should-retry"

COMPLETED = ("response.completed", "completed")
"""Type and status of what is complete. Some servers end with the type alone, whatever became of it,
and some leave the status out."""


class Reading:
    """One turn. `calls`: those of an earlier request for the same turn, to be continued."""

    def __init__(self, request: Mapping[str, Any], calls: Calls | None = None) -> None:
        self.saw_output = False
        """True from the first output event on, a tool call included."""
        self.response_id: str | None = None
        self.calls = Calls() if calls is None else calls
        self.end: Result | Failure | None = None
        self._state = state_of(request)
        self._headers: Mapping[str, str] = {}
        self._request_ids: tuple[str, ...] = ()
        self._handshake_id: str | None = None
        self._text = Text()

    @property
    def text(self) -> str:
        """The text that has come."""
        return self._text.so_far

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Those that the turn has told. A handshake is no turn, and no log of turns knows its id:
        it stands here only while there is nothing else to name the turn by."""
        if self._request_ids or self.response_id or not self._handshake_id:
            return self._request_ids
        return (self._handshake_id,)

    def connected(self, headers: Mapping[str, str]) -> None:
        """The headers of the handshake of the turn's socket, with names in lower case."""
        self._handshake_id = headers.get(REQUEST_ID)

    def answered(self, headers: Mapping[str, str]) -> None:
        """The server's headers, with names in lower case."""
        self._headers = headers
        self._know(headers.get(REQUEST_ID))

    def take(self, event: Event) -> Result | Failure | None:
        """The next event; the turn's end, if this is it."""
        kind = class_of(event)
        response = mapping_of(event, "response")
        self.response_id = text_of(response, "id") or self.response_id
        if kind is Class.OUTPUT:
            self._output(event)
        elif kind is Class.LIFECYCLE and response.get("output"):
            self.saw_output = True  # whoever reads the event has it
        elif kind is Class.RESULT:
            self.end = self._result(event)
        elif kind is Class.FAILURE:
            nested = text_of(event, "type") in ("response.failed", "response.completed")
            self.end = self._failed(event, How.FAILED_EVENT if nested else How.ERROR_EVENT)
        return self.end

    def broken(self, stop: Break) -> Failure:
        """The transport's end, where no terminal event came."""
        if stop.headers:
            self.answered(stop.headers)
        event = events.read(stop.body) if stop.body else {}
        if _is_response(event):
            self.response_id = text_of(event, "id")
        self.end = self._failed(event, stop.how, stop)
        return self.end

    def _output(self, event: Event) -> None:
        self.saw_output = True
        self._text.take(event)
        item = mapping_of(event, "item")
        if text_of(event, "type") == "response.output_item.done":
            self.calls.finish(item)
        else:
            self.calls.begin(item)

    def _result(self, event: Event) -> Result:
        response = mapping_of(event, "response")
        for item in items_of(response, "output"):
            self.calls.finish(item)
        said = (text_of(event, "type"), text_of(response, "status") or "completed")
        return Result(
            status="completed" if said == COMPLETED else "incomplete",
            reason=text_of(mapping_of(response, "incomplete_details"), "reason"),
            text=self.text or output_text(response),
            response_id=self.response_id,
            request_ids=self.request_ids,
            response=response,
        )

    def _failed(self, event: Event, how: How, stop: Break | None = None) -> Failure:
        status = stop.status if stop else _status_of(event)
        headers = {**self._headers, **_headers_in(event)}
        for request_id in (headers.get(REQUEST_ID), *_request_ids_in(event)):
            self._know(request_id)
        return Failure(
            how=how,
            after_output=self.saw_output,
            text=self.text,
            code=events.said(event, text_of, "code"),
            message=_message_of(event) or (stop.message if stop else "no message"),
            status=status,
            close_code=stop.close_code if stop else None,
            retryable=_retryable(event, how, status, stop, headers),
            retry_after=retry_after(event, headers),
            request_ids=self.request_ids,
            response_id=self.response_id,
            acted_on=self.calls.acted_on,
            state=self._state,
            excerpt=_excerpt(event, stop),
        )

    def _know(self, request_id: str | None) -> None:
        if request_id and request_id not in self._request_ids:
            self._request_ids += (request_id,)


def _retryable(
    event: Event, how: How, status: int | None, stop: Break | None, headers: Mapping[str, str]
) -> bool | None:
    """The first that says something; docs/client.md has this table."""
    said = events.said(event, events.flag_of, "retryable")
    if said is None:
        said = {"true": True, "false": False}.get(headers.get(SHOULD_RETRY, "").lower())
    if said is not None:
        return said
    if _was_done(event):
        return False
    coded = by_code(events.said(event, text_of, "code"))
    if coded is not None:
        return coded
    if how is How.NOT_CONNECTED:
        return True
    if stop is not None and stop.close_code is not None:
        return CLOSE_CODES.get(stop.close_code)
    return by_status(status)


def _was_done(event: Event) -> bool:
    """Does the failure show that the model has worked?"""
    has_output = bool(mapping_of(event, "response").get("output"))
    return has_output or events.is_metered(event) or _is_response(event)


def _is_response(event: Event) -> bool:
    """Is it a response object, where a stream was asked for? It shows that the turn ran."""
    return text_of(event, "object") == "response"


def _status_of(event: Event) -> int | None:
    found = events.number_of(event, "status") or events.number_of(event, "status_code")
    return None if found is None else int(found)


def _headers_in(event: Event) -> dict[str, str]:
    """Headers that a WebSocket's error frame carries, at the top or in its error."""
    carried = [mapping_of(level, "headers") for level in reversed(error_levels(event))]
    return {name.lower(): str(value) for each in carried for name, value in each.items()}


def _request_ids_in(event: Event) -> list[str | None]:
    return [text_of(level, "request_id") for level in reversed(error_levels(event))]


def _message_of(event: Event) -> str | None:
    """Some servers have a string in place of the error."""
    return events.said(event, text_of, "message") or text_of(event, "error")


def _excerpt(event: Event, stop: Break | None) -> str:
    whole = stop.body or stop.message if stop else events.written(event)
    return whole[:EXCERPT_CHARACTERS]
