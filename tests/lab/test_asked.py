"""What a call asks for is read from any body, and from none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.lab.asked import Asked, asked_of


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"model": "m", "input": "hi", "stream": True}, Asked("m", "hi", True)),
        ({"input": [{"content": "first"}, {"content": "last"}]}, Asked("", "last", False)),
        ({"input": [{"content": [{"text": "a"}, {"text": "b"}, {}]}]}, Asked("", "a b")),
        ({"input": [{"content": "said"}, {"type": "reasoning"}, 7]}, Asked("", "said")),
        ({"model": 7, "input": {"text": "x"}, "stream": "true"}, Asked()),
    ],
)
def test_what_a_body_asks_for(body: dict[str, Any], asked: Asked) -> None:
    assert asked_of(json.dumps(body).encode()) == asked


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_what_is_no_object_asks_for_nothing(body: bytes) -> None:
    assert asked_of(body) == Asked()
