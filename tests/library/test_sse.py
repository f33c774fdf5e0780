"""Bytes to events, in whatever pieces they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from latchway_client import How, sse
from latchway_client.ends import Break
from latchway_client.sse import SseReader

ONE, TWO = {"type": "a"}, {"type": "b"}

BODIES: dict[str, tuple[bytes, list[dict[str, Any]]]] = {
    "usual": (b'event: a\ndata: {"type":"a"}\n\ndata: {"type":"b"}\n\n', [ONE, TWO]),
    "crlf": (b'data: {"type":"a"}\r\n\r\ndata: {"type":"b"}\r\n\r\n', [ONE, TWO]),
    "cr": (b'data: {"type":"a"}\r\rdata: {"type":"b"}\r\r', [ONE, TWO]),
    "comments": (b': hi\n\ndata:{"type":"a"}\n: hi\n\ndata: : hi\n\n', [ONE]),
    "other fields": (b'id: 7\nretry: 9\ndata: {"type":"a"}\nwhat\n\n', [ONE]),
    "two lines": (b'data: {"type":\ndata: "a"}\n\n', [ONE]),
    "byte order mark": (b'\xef\xbb\xbfdata: {"type":"a"}\n\n', [ONE]),
    "a torn event": (b'data: {"type":"a"}\n\ndata: {"type":"b"}\n', [ONE]),
    "done": (b'data: {"type":"a"}\n\ndata: [DONE]\n\ndata: {"type":"b"}\n\n', [ONE]),
    "a type beside the data": (b"event: a\ndata: {}\n\n", [ONE]),
    "separators within": ('data: {"type":"\u2028\x85"}\n\n'.encode(), [{"type": "\u2028\x85"}]),
    "no JSON": (b"data: {\n\n", [{"type": "", "data": "{"}]),
    "no object": (b"data: [1]\n\n", [{"type": "", "data": "[1]"}]),
}


def read(pieces: Iterable[bytes]) -> list[dict[str, Any]]:
    reader = SseReader()
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize("name", BODIES)
def test_the_events_of_a_body(name: str) -> None:
    body, events = BODIES[name]
    assert read([body]) == events


@pytest.mark.parametrize("name", BODIES)
def test_they_are_the_same_however_it_is_cut(name: str) -> None:
    body, events = BODIES[name]
    cuts = [[body[:at], body[at:]] for at in range(len(body))]
    cuts.append([body[at : at + 1] for at in range(len(body))])
    assert all(read(pieces) == events for pieces in cuts)


ENDS = {
    b"": How.CLEAN_END,
    b"\n": How.CLEAN_END,
    b'data: {"type":"a"}\n\n': How.CLEAN_END,
    b"data: [DONE]\n\n": How.CLEAN_END,
    b": hi\n\n": How.CLEAN_END,
    b'event: response.created\ndata: {"type":"resp': How.CLEAN_END,
    b'\xef\xbb\xbfdata: {"type":"resp': How.CLEAN_END,
    b'{"error": {}}': How.NO_STREAM,
    b"<html>": How.NO_STREAM,
}


@pytest.mark.parametrize("body", ENDS)
def test_what_the_end_of_a_body_means(body: bytes) -> None:
    reader = SseReader()
    reader.feed(body)
    assert reader.end().how is ENDS[body]


def test_a_body_that_is_no_stream_is_kept_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "BODY_BYTES", 5)
    reader = SseReader()
    for piece in (b"abc", b"def", b"ghi"):
        reader.feed(piece)
    assert reader.end().body == "abcde"


def test_an_event_without_an_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "EVENT_BYTES", 20)
    reader = SseReader()
    assert reader.feed(b'data: {"type":"a"}\n\n' * 2) == [ONE, ONE]
    with pytest.raises(Break, match="longer than 20 bytes"):
        reader.feed(b'data: {"type":"abc"}\n\n')
