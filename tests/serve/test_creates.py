"""A client's messages by their type, and those that wait."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.serve.creates import ECHO_CHARACTERS, Create, Queue, Sort, sort_message, steer_failed

LIMIT = 1000


def sorted_as(message: Any) -> tuple[Sort, str | None, str | None]:
    """Sort, code and lane."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    sort, fault, lane = sort_message(data, LIMIT)
    return sort, fault.code if fault else None, lane


@pytest.mark.parametrize(
    ("message", "sort", "code"),
    [
        ({"type": "response.create"}, Sort.CREATE, None),
        ({"type": "response.steer"}, Sort.STEER, None),
        ({"type": "response.processed"}, Sort.IGNORED, None),
        ({"type": "response.cancel"}, Sort.REFUSED, "unsupported_parameter"),
        ({"type": "Response.Create"}, Sort.REFUSED, "unsupported_parameter"),
        ({"type": ["response.create"]}, Sort.REFUSED, "unsupported_parameter"),
        ({}, Sort.REFUSED, "unsupported_parameter"),
        (b"{", Sort.CREATE, None),
        (b"[]", Sort.CREATE, None),
        (b"[" * LIMIT, Sort.CREATE, None),
        (b"{" + b" " * LIMIT + b"}", Sort.CREATE, "request_too_large"),
    ],
)
def test_what_is_done_with_a_message(message: Any, sort: Sort, code: str | None) -> None:
    assert sorted_as(message)[:2] == (sort, code)


@pytest.mark.parametrize(
    ("lane", "echoed"),
    [
        ("agent_1", "agent_1"),
        ("x" * ECHO_CHARACTERS, "x" * ECHO_CHARACTERS),
        ("x" * (ECHO_CHARACTERS + 1), None),
        (7, None),
        (None, None),
    ],
)
def test_a_lane_is_said_back_if_it_can_be_one(lane: Any, echoed: str | None) -> None:
    assert sorted_as({"type": "response.create", "stream_id": lane})[2] == echoed


@pytest.mark.parametrize("said", ["resp_1", None, 7, "\u2028\n", "x" * 1000])
def test_a_refused_steer_is_one_line_of_ascii(said: Any) -> None:
    answer = steer_failed(
        json.dumps({"type": "response.steer", "previous_response_id": said}).encode(), None
    )
    assert answer.isascii()
    assert b"\n" not in answer
    told = json.loads(answer)["previous_response_id"]
    assert told == (said if isinstance(said, str) and len(said) < 1000 else None)


def create(size: int) -> Create:
    return Create(b"x" * size)


def test_creates_wait_in_their_order() -> None:
    queue = Queue(most=3, most_bytes=100)
    first, second = create(1), create(2)
    assert queue.take() is None
    assert queue.put(first)
    assert queue.put(second)
    assert (queue.take(), queue.take(), queue.take()) == (first, second, None)


@pytest.mark.parametrize(("sizes", "room"), [([1, 1], False), ([60], True), ([61], False)])
def test_a_queue_has_room_for_so_many_and_so_much(sizes: list[int], room: bool) -> None:
    queue = Queue(most=2, most_bytes=100)
    for size in sizes:
        assert queue.put(create(size))
    assert queue.put(create(40)) is room


def test_what_was_taken_or_cleared_makes_room() -> None:
    queue = Queue(most=1, most_bytes=100)
    assert queue.put(create(100))
    queue.take()
    assert queue.put(create(100))
    queue.clear()
    assert queue.put(create(100))
