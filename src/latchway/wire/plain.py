"""The shapes that requests mostly have, in which nothing can bind: told apart without a search.

An allow-list, read by msgspec in one pass. What fits it needs no look inside (most of a long
conversation is text, and text is never read); what does not is searched (wire/bindings.py), so a
shape that is missing here costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

Text = str | None
Inline = Annotated[str, msgspec.Meta(pattern="^data:")]


class _Nothing(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """So that a list of these is as good as empty."""


class _Part(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["input_text", "output_text", "refusal", "input_image"]
    text: Text = None
    refusal: Text = None
    annotations: list[_Nothing] | None = None
    logprobs: list[_Nothing] | None = None
    image_url: Inline | None = None
    detail: Text = None


class _Item(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: (
        Literal[
            "message",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
        ]
        | None
    ) = None
    id: Text = None
    status: Text = None
    role: Text = None
    phase: Text = None
    content: str | list[_Part] | None = None
    call_id: Text = None
    name: Text = None
    namespace: Text = None
    arguments: Text = None
    input: Text = None
    output: str | list[_Part] | None = None

    def __post_init__(self) -> None:
        """With an id and nothing that it could be the id of, it is a reference (R3)."""
        if self.id and self.content is None and self.call_id is None:
            raise ValueError("a reference")


class _Grammar(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text", "grammar"]
    syntax: Text = None
    definition: Text = None


class _Tool(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Beside a `name`, `parameters` are the client's own schema."""

    type: Literal["function", "custom", "namespace", "web_search", "image_generation"]
    name: Text = None
    description: Text = None
    strict: bool | None = None
    defer_loading: bool | None = None
    parameters: msgspec.Raw = msgspec.Raw()
    format: _Grammar | None = None
    tools: list[_Tool] | None = None
    search_context_size: Text = None
    external_web_access: bool | None = None

    def __post_init__(self) -> None:
        """Whose schema it is, only a name tells (wire/bindings.py)."""
        if self.name is None and bytes(self.parameters):
            raise ValueError("a schema of nobody's")


_ENTRIES = msgspec.json.Decoder(list[msgspec.Raw])
_READERS: Mapping[str, tuple[msgspec.json.Decoder[Any], msgspec.json.Decoder[Any]]] = {
    "input": (msgspec.json.Decoder(list[_Item]), msgspec.json.Decoder(_Item)),
    "tools": (msgspec.json.Decoder(list[_Tool]), msgspec.json.Decoder(_Tool)),
}
"""For each field the reader of all its entries at once, and of one."""

FIELDS = frozenset(_READERS)


def unusual(field: str, raw: msgspec.Raw) -> Iterator[tuple[int, msgspec.Raw]]:
    """The entries of `input` or `tools` that are not plain, each with its place.

    `raw`: one of FIELDS, a list, valid JSON.
    """
    every, one = _READERS[field]
    if _fits(every, raw):
        return
    for place, entry in enumerate(_ENTRIES.decode(raw)):
        if not _fits(one, entry):
            yield place, entry


def _fits(reader: msgspec.json.Decoder[Any], raw: msgspec.Raw) -> bool:
    try:
        reader.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
