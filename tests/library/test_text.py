"""The text of a turn, from deltas, from whole parts, or from the response alone."""

from __future__ import annotations

from typing import Any

import pytest

from latchway_client.text import Text, output_text


def delta(text: object, item: str = "msg_1", content: int = 0) -> dict[str, Any]:
    place = {"item_id": item, "content_index": content}
    return {"type": "response.output_text.delta", "delta": text, **place}


def done(text: str, item: str = "msg_1", content: int = 0) -> dict[str, Any]:
    place = {"item_id": item, "content_index": content}
    return {"type": "response.output_text.done", "text": text, **place}


def nameless(event: dict[str, Any], output: int) -> dict[str, Any]:
    """The same event of a server that gives its items no ids."""
    rest = {name: value for name, value in event.items() if name != "item_id"}
    return {**rest, "output_index": output}


STREAMS: list[tuple[list[dict[str, Any]], str]] = [
    ([delta("Hel"), delta("lo")], "Hello"),
    ([delta("Hel"), delta("lo"), done("Hello")], "Hello"),
    ([done("Hello")], "Hello"),
    ([delta("a"), delta("b", content=1), delta("A"), delta("c", "msg_2")], "aAbc"),
    ([delta("a"), delta(None), {"type": "response.audio.delta", "delta": "x"}], "a"),
    ([{"type": "response.output_text.delta", "delta": "a"}], "a"),
    ([nameless(done("a"), 0), nameless(delta("b"), 1), nameless(done("b"), 1)], "ab"),
]


@pytest.mark.parametrize(("events", "text"), STREAMS)
def test_the_text_so_far(events: list[dict[str, Any]], text: str) -> None:
    gathered = Text()
    for event in events:
        gathered.take(event)
    assert gathered.so_far == text


RESPONSES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"output": None}, ""),
    ({"output": ["x", {"content": None}, {"type": "reasoning"}]}, ""),
    ({"output": [{"content": [{"type": "output_text", "text": "Hi"}, {"type": "refusal"}]}]}, "Hi"),
]


@pytest.mark.parametrize(("response", "text"), RESPONSES)
def test_the_text_of_a_response(response: dict[str, Any], text: str) -> None:
    assert output_text(response) == text
