"""Tool calls of a turn, and which of them were acted on.

An agent acts on a call: it runs a command, sends a letter. A turn of which a call was acted on is
never sent again, because the model would call once more. So a call is handed out once, by its id,
and is marked as it is handed out; or the application marks it itself, before it acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from latchway_client.events import text_of


@dataclass(frozen=True, slots=True)
class Call:
    """A whole call. `arguments`: JSON as the model wrote it, or the text of a custom tool."""

    id: str
    type: str
    name: str
    arguments: str
    item: Mapping[str, Any] = field(repr=False)
    """The output item: what other types of calls hold stands there."""


class Calls:
    """The calls of one turn, in the order of their coming."""

    def __init__(self) -> None:
        self._begun: dict[str, None] = {}
        self._whole: dict[str, Call] = {}
        self._acted_on: set[str] = set()

    def begin(self, item: Mapping[str, Any]) -> None:
        """Note an item of the stream; one that is no call is nothing."""
        if is_call(item):
            self._begun[item["call_id"]] = None

    def finish(self, item: Mapping[str, Any]) -> None:
        """Note an item that is done. A call that was cut off in its arguments is not whole."""
        self.begin(item)
        if is_call(item) and item.get("status") != "incomplete":
            call_id = item["call_id"]
            said = text_of(item, "arguments") or text_of(item, "input") or ""
            self._whole.setdefault(
                call_id, Call(call_id, item["type"], text_of(item, "name") or "", said, item)
            )

    @property
    def begun(self) -> tuple[str, ...]:
        """Ids of all calls that came, whole or not."""
        return tuple(self._begun)

    @property
    def whole(self) -> tuple[Call, ...]:
        """The calls that came whole. Looking at them marks nothing."""
        return tuple(self._whole.values())

    def hand_out(self) -> tuple[Call, ...]:
        """The whole calls that were not acted on yet. They count as acted on from here."""
        fresh = tuple(call for call in self.whole if call.id not in self._acted_on)
        self._acted_on.update(call.id for call in fresh)
        return fresh

    def mark(self, call_id: str) -> None:
        """This call is acted on, also if the stream has not shown it: say so before you act."""
        self._acted_on.add(call_id)

    @property
    def acted_on(self) -> frozenset[str]:
        """Ids of the calls that were acted on. If there is one, the turn is not sent again."""
        return frozenset(self._acted_on)


def is_call(item: Mapping[str, Any]) -> bool:
    """Is it for the client to do? The provider's own tools have no `call_id`."""
    kind = text_of(item, "type") or ""
    return kind.endswith("_call") and isinstance(item.get("call_id"), str)
