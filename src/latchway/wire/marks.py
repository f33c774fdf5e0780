"""By what a thing that only its origin can read is known again when a client sends it back (R3).

An item's id, its encrypted content, its container: what `wire/bindings.py` finds in a request. A
mark is a short digest of one, so that remembering it keeps nothing of what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import msgspec

MARK_BYTES = 12
"""Of a digest. Two things of one owner share one by chance once in 10^28 pairs."""

MARKS_MAX = 1024
"""Of one answer; what is beyond is not known again. Answers have about ten items."""

SENT_WHOLE = frozenset({"message", "function_call", "custom_tool_call"})
"""Types of items that a client sends back with all that they say. The id of one means something
only to who keeps it; nearly every answer has one, and each mark costs the ledger a page."""

NO_ITEM = msgspec.Raw()

_Items = msgspec.json.Decoder(list[msgspec.Raw])


class OfKept(bytes):
    """The mark of an item that is to be known again only where its response is kept."""


class _Kept(msgspec.Struct, gc=False):
    """The members of an answer about what an origin keeps that name things."""

    id: Any = None
    output: msgspec.Raw = NO_ITEM
    data: msgspec.Raw = NO_ITEM


class _Item(msgspec.Struct, gc=False):
    """The members by which an item is known again."""

    type: Any = None
    id: Any = None
    encrypted_content: Any = None
    container_id: Any = None


_item = msgspec.json.Decoder(_Item).decode


def mark(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=MARK_BYTES).digest()


def of_item(item: msgspec.Raw) -> tuple[bytes, ...]:
    """The marks of one output item, maybe some `OfKept`. What is no item has none; never raises."""
    try:
        read = _item(item)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    made = [mark(text) for text in (read.encrypted_content, read.container_id) if _says(text)]
    if _says(read.id):
        whole = isinstance(read.type, str) and read.type in SENT_WHOLE
        made.insert(0, OfKept(mark(read.id)) if whole else mark(read.id))
    return tuple(made)


def _says(text: Any) -> bool:
    return isinstance(text, str) and text != ""


def of_output(output: msgspec.Raw) -> tuple[bytes, ...]:
    """The marks of a response's `output`; never raises."""
    try:
        items: Iterable[msgspec.Raw] = _Items.decode(output)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    return tuple(each for item in items for each in of_item(item))[:MARKS_MAX]


def of_answer(body: bytes) -> tuple[bytes, ...]:
    """The marks of all that an answer of a stored response's or conversation's endpoint names: the
    thing itself, and the items of its `output` or `data`. Never raises."""
    try:
        kept = msgspec.json.decode(body, type=_Kept)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    own = (mark(kept.id),) if isinstance(kept.id, str) and kept.id else ()
    return (*own, *of_output(kept.output), *of_output(kept.data))[:MARKS_MAX]
