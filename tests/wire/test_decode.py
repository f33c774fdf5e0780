"""JSON as upstreams write it: what a client can read, the gateway reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchway.wire.decode import Event, Output, Response, decode

ODD = {
    "NaN": b'{"type":"t","logprob":NaN}',
    "Infinity": b'{"type":"t","logprob":-Infinity}',
    "a number out of range": b'{"type":"t","n":1e999}',
    "half a surrogate pair": b'{"type":"t","delta":"\\ud83d"}',
    "broken UTF-8": b'{"type":"t","delta":"\xff"}',
    "broken UTF-8 in what is skipped": b'{"type":"t","x":"\xff"}',
    "a response that is no object": b'{"type":"t","response":"r"}',
    "escapes in a name": b'{"\\u0074ype":"t"}',
    "white space": b' \n{"type" :\r"t"}\t',
    "a name twice": b'{"type":"s","type":"t"}',
    "deep": b'{"type":"t","x":' + b"[" * 500 + b"]" * 500 + b"}",
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_odd_json_is_read(data: bytes) -> None:
    event = decode(data, Event)
    assert event is not None
    assert event.type == "t"


NO_OBJECT = {
    "empty": b"",
    "white": b" ",
    "torn": b'{"type":"t"',
    "two values": b'{"type":"t"}{}',
    "a control character": b'{"type":"t\n"}',
    "a list": b'[{"type":"t"}]',
    "null": b"null",
    "a string": b'"t"',
    "a number": b"1",
    "NaN": b"NaN",
    "HTML": b"<html></html>",
    "too deep": b'{"type":"t","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("data", NO_OBJECT.values(), ids=NO_OBJECT)
def test_what_is_no_json_object_is_none(data: bytes) -> None:
    assert decode(data, Event) is None
    assert decode(data, Response) is None
    assert decode(data, Output) is None


def test_what_is_read_leniently_can_be_written_again() -> None:
    event = decode(b'{"error":{"a":"\\ud83d","b":[NaN,1e999,1.5],"c\\ud83d":"\xff"}}', Event)
    assert event is not None
    assert event.error == {"a": "\ufffd", "b": ["NaN", "1e999", 1.5], "c\ufffd": "\ufffd"}
    json.dumps(event.error, allow_nan=False).encode()


def test_a_whole_surrogate_pair_stays_one_character() -> None:
    event = decode(b'{"delta":"\\ud83d\\ude00","x":NaN}', Event)
    assert event is not None
    assert event.delta == "\U0001f600"


def is_object(data: bytes) -> bool:
    """As the most lenient client reads it."""
    try:
        return isinstance(json.loads(data.decode("utf-8", "replace")), dict)
    except ValueError:
        return False


@settings(deadline=None)
@given(data=st.binary(max_size=60))
def test_whatever_bytes_come_an_object_is_read_and_nothing_else(data: bytes) -> None:
    for text in (data, b'{"type":' + data + b"}", b'{"type":"' + data + b'"}'):
        assert (decode(text, Event) is not None) == is_object(text)
