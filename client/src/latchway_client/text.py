"""The text of a turn, put together from what has come of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from latchway_client.events import Event, items_of, text_of


class Text:
    """Parts by item and place, in the order in which they began. Where the item has no id, its
    place in the output tells it from others.

    A delta adds to its part; the part's `done` has all of it, for servers that send no deltas.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[object, ...], list[str]] = {}

    def take(self, event: Event) -> None:
        """An output event; most are not about text."""
        kind = text_of(event, "type")
        if kind == "response.output_text.delta":
            self._part(event).append(text_of(event, "delta") or "")
        elif kind == "response.output_text.done":
            self._part(event)[:] = [text_of(event, "text") or "".join(self._part(event))]

    @property
    def so_far(self) -> str:
        return "".join("".join(part) for part in self._parts.values())

    def _part(self, event: Event) -> list[str]:
        item = text_of(event, "item_id") or f"output {event.get('output_index')}"
        place = (item, str(event.get("content_index")))
        return self._parts.setdefault(place, [])


def output_text(response: Mapping[str, Any]) -> str:
    """The text in a response object, for servers that put it there alone."""
    return "".join(text_of(part, "text") or "" for part in _parts(response))


def _parts(response: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for item in items_of(response, "output"):
        for part in items_of(item, "content"):
            if part.get("type") == "output_text":
                yield part
