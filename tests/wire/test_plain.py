"""The ordinary shapes are told without a search; all else is handed to it, with its place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from latchway.wire.plain import FIELDS, unusual


def places(field: str, *entries: Any) -> list[int]:
    return [place for place, _ in unusual(field, msgspec.Raw(json.dumps(entries).encode()))]


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,YQ==", "detail": "low"}
TEXT = {"type": "input_text", "text": "hi"}
SAID = {"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}

PLAIN: dict[str, list[dict[str, Any]]] = {
    "input": [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [TEXT, IMAGE]},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
         "phase": None, "content": [SAID, {"type": "refusal", "refusal": "no"}]},
        {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [TEXT]},
        {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "y"},
    ],
    "tools": [
        {"type": "function", "name": "f", "description": "d", "strict": True,
         "parameters": {"properties": {"file_id": {}}}},
        {"type": "custom", "name": "f", "format": {"type": "grammar", "definition": "x"}},
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
        {"type": "web_search", "search_context_size": "low", "external_web_access": False},
        {"type": "image_generation"},
    ],
}  # fmt: skip

UNUSUAL: dict[str, list[Any]] = {
    "input": [
        {"id": "msg_1"},
        {"id": "msg_1", "type": "message"},
        {"type": "item_reference", "id": "msg_1"},
        {"type": "reasoning", "summary": []},
        {"type": "never_heard_of"},
        {"role": "user", "content": "hi", "never_heard_of": None},
        {"role": "user", "content": {"type": "input_text"}},
        {"role": "user", "content": [{**TEXT, "file_id": None}]},
        {"role": "user", "content": [{**TEXT, "text": {"file_id": "f"}}]},
        {"role": "user", "content": [{"type": "input_file", "filename": "f"}]},
        {"role": "user", "content": [{**IMAGE, "image_url": "https://a.example/b"}]},
        {"role": "user", "content": [{**IMAGE, "image_url": "xdata:"}]},
        {"role": "assistant", "content": [{**SAID, "annotations": [{"file_id": "f"}]}]},
        "text",
        None,
        ["list"],
    ],
    "tools": [
        {"type": "mcp"},
        {"type": "file_search"},
        {"type": "function", "name": "f", "never_heard_of": 1},
        {"type": "function", "parameters": {"file_id": "f"}},
        {"type": "custom", "name": "f", "format": {"file_id": "f"}},
        {"type": "custom", "name": "f", "format": {"type": "grammar", "file_id": "f"}},
        {"type": "namespace", "tools": [{"type": "shell"}]},
        {"name": "no type"},
        "text",
    ],
}


@pytest.mark.parametrize("field", FIELDS)
def test_plain_entries_are_not_handed_on(field: str) -> None:
    assert places(field, *PLAIN[field]) == []


@pytest.mark.parametrize(
    ("field", "entry"), [(field, entry) for field in FIELDS for entry in UNUSUAL[field]]
)
def test_an_unusual_entry_is_handed_on_alone(field: str, entry: Any) -> None:
    before, after = PLAIN[field][:2], PLAIN[field][2:]
    assert places(field, *before, entry, *after) == [2]


def test_an_entry_nested_beyond_the_reader_is_handed_on() -> None:
    """The reader that parts the entries meets the same depth, and says so to the caller."""
    deep = b'[{"type":"function","parameters":' + b"[" * 5_000 + b"]" * 5_000 + b"}]"
    with pytest.raises(RecursionError):
        list(unusual("tools", msgspec.Raw(deep)))
