"""What a call asks for, as far as a script can choose by it or answer with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """`text`: the last input that holds text. `streamed`: the answer is to be events."""

    model: str = ""
    text: str = ""
    streamed: bool = False


def asked_of(body: bytes) -> Asked:
    """Read a request's body; one that is no JSON object asks for nothing in particular."""
    request = json_object(body)
    model = request.get("model")
    return Asked(
        model=model if isinstance(model, str) else "",
        text=_input_text(request.get("input")),
        streamed=request.get("stream") is True,
    )


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`, or an empty one if there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _input_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    texts = [_item_text(item) for item in value] if isinstance(value, list) else []
    return next((text for text in reversed(texts) if text), "")


def _item_text(item: Any) -> str:
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return " ".join(text for text in texts if isinstance(text, str))
