"""The short forms of a script's events, made into events of the Responses API.

One composer makes the events of one answer: it counts `sequence_number`, keeps the response's id,
and remembers the text, so that `completed` can end with all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from latchway.lab.asked import Asked

JsonEvent = dict[str, Any]

ERROR_FIELDS = ("code", "message", "type", "param", "retryable", "retry_after")
USAGE_FIELDS = ("input", "output", "cached", "cache_write", "reasoning", "usage")
TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})


class Composer:
    """The events of one answer, in order.

    `response_id` holds until `created` names another. `created_at`: Unix time in whole seconds.
    """

    def __init__(self, asked: Asked, response_id: str, created_at: int) -> None:
        self._asked = asked
        self._response_id = response_id
        self._created_at = created_at
        self._sequence = 0
        self._text = ""
        self._items: list[JsonEvent] = []
        self._open = False

    def events(self, form: str, value: Any) -> Iterator[JsonEvent]:
        """The events of one step; `form` is a key of FORMS."""
        for event in FORMS[form](self, value):
            self._sequence += 1
            yield event

    # ---- the forms

    def _whole(self, value: JsonEvent) -> Iterator[JsonEvent]:
        yield value

    def _created(self, value: str | None) -> Iterator[JsonEvent]:
        self._response_id = value or self._response_id
        yield self._lifecycle("created", "in_progress")

    def _in_progress(self, value: None) -> Iterator[JsonEvent]:
        yield self._lifecycle("in_progress", "in_progress")

    def _queued(self, value: None) -> Iterator[JsonEvent]:
        yield self._lifecycle("queued", "queued")

    def _keepalive(self, value: None) -> Iterator[JsonEvent]:
        yield self._numbered("keepalive")

    def _item(self, value: None) -> Iterator[JsonEvent]:
        self._text, self._open = "", True
        item = self._message("in_progress")
        yield self._numbered("response.output_item.added", **self._index(), item=item)
        yield self._numbered("response.content_part.added", **self._part_of(), part=_part(""))

    def _delta(self, value: str) -> Iterator[JsonEvent]:
        self._text += value
        at = self._part_of()
        yield self._numbered("response.output_text.delta", **at, delta=value, logprobs=[])

    def _item_done(self, value: None) -> Iterator[JsonEvent]:
        at, text, item = self._part_of(), self._text, self._message("completed")
        yield self._numbered("response.output_text.done", **at, text=text, logprobs=[])
        yield self._numbered("response.content_part.done", **at, part=_part(text))
        yield self._numbered("response.output_item.done", **self._index(), item=item)
        self._items.append(item)
        self._text, self._open = "", False

    def _say(self, value: str) -> Iterator[JsonEvent]:
        yield from self._item(None)
        for word in words(value):
            yield from self._delta(word)
        yield from self._item_done(None)

    def _echo(self, value: None) -> Iterator[JsonEvent]:
        yield from self._say(self._asked.text)

    def _completed(self, value: dict[str, Any] | None) -> Iterator[JsonEvent]:
        yield self._result("completed", value or {})

    def _incomplete(self, value: dict[str, Any] | None) -> Iterator[JsonEvent]:
        given = value or {}
        details = {"reason": given.get("reason", "max_output_tokens")}
        yield self._result("incomplete", given, incomplete_details=details)

    def _failed(self, value: dict[str, Any]) -> Iterator[JsonEvent]:
        metered = any(name in value for name in USAGE_FIELDS)
        yield self._numbered(
            "response.failed",
            response=self._response(
                "failed",
                error=_error(value, ("code", "message")),
                usage=self._usage(value) if metered else None,
            ),
        )

    def _error(self, value: dict[str, Any]) -> Iterator[JsonEvent]:
        error = _error(value, ("type", "code", "message", "param"))
        if value.get("flat"):
            yield self._numbered("error", **{k: v for k, v in error.items() if k != "type"})
        elif "status" in value:
            yield {"type": "error", "status": value["status"], "error": error}
        else:
            yield self._numbered("error", error=error)

    # ---- their parts; `sequence_number` is the one of the event that comes next

    def _numbered(self, kind: str, **fields: Any) -> JsonEvent:
        return {"type": kind, "sequence_number": self._sequence, **fields}

    def _lifecycle(self, name: str, status: str) -> JsonEvent:
        return self._numbered(f"response.{name}", response=self._response(status))

    def _result(self, status: str, given: dict[str, Any], **fields: Any) -> JsonEvent:
        response = self._response(status, usage=self._usage(given), output=self._output(), **fields)
        return self._numbered(f"response.{status}", response=response)

    def _output(self) -> list[JsonEvent]:
        unfinished = [self._message("completed")] if self._open or self._text else []
        return self._items + unfinished

    def _response(self, status: str, **fields: Any) -> JsonEvent:
        response = {
            "id": self._response_id,
            "object": "response",
            "created_at": self._created_at,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "model": self._asked.model or "lab",
            "output": [],
            "parallel_tool_calls": True,
            "temperature": 1,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1,
            "usage": None,
            "metadata": {},
        }
        return response | fields

    def _usage(self, given: dict[str, Any]) -> Any:
        if "usage" in given:
            return given["usage"]
        tokens_in = given.get("input", len(words(self._asked.text)))
        tokens_out = given.get("output", self._words_said())
        details = {"cached_tokens": given.get("cached", 0)}
        if "cache_write" in given:
            details["cache_write_tokens"] = given["cache_write"]
        return {
            "input_tokens": tokens_in,
            "input_tokens_details": details,
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": given.get("reasoning", 0)},
            "total_tokens": tokens_in + tokens_out,
        }

    def _words_said(self) -> int:
        texts = [item["content"][0]["text"] for item in self._output()]
        return sum(len(words(text)) for text in texts)

    def _message(self, status: str) -> JsonEvent:
        content = [_part(self._text)] if status == "completed" else []
        return {
            "id": self._item_id(),
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": content,
        }

    def _item_id(self) -> str:
        return f"msg_{self._response_id}_{len(self._items)}"

    def _index(self) -> JsonEvent:
        return {"output_index": len(self._items)}

    def _part_of(self) -> JsonEvent:
        return {"item_id": self._item_id(), **self._index(), "content_index": 0}


FORMS: dict[str, Callable[[Composer, Any], Iterator[JsonEvent]]] = {
    "event": Composer._whole,
    "created": Composer._created,
    "in_progress": Composer._in_progress,
    "queued": Composer._queued,
    "keepalive": Composer._keepalive,
    "item": Composer._item,
    "text": Composer._delta,
    "item_done": Composer._item_done,
    "say": Composer._say,
    "echo": Composer._echo,
    "completed": Composer._completed,
    "incomplete": Composer._incomplete,
    "failed": Composer._failed,
    "error": Composer._error,
}


def words(text: str) -> list[str]:
    """The words of a text, each with the space before it: joined they are the text again."""
    return re.findall(r"\s*\S+|\s+$", text)


def _part(text: str) -> JsonEvent:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _error(given: dict[str, Any], always: tuple[str, ...]) -> JsonEvent:
    """The fields that every error of its kind has, then those that the script adds."""
    usual = {"type": "server_error", "message": "Scripted by the lab.", "param": None}
    fields = {name: given.get(name, usual.get(name)) for name in always}
    return fields | {name: given[name] for name in ERROR_FIELDS if name in given}
