"""A field that nobody could search is told from one that only has long texts."""

from __future__ import annotations

import msgspec
import pytest

from latchway.wire.brackets import BRACKETS_MAX, UNCOUNTED_BYTES, are_too_many


@pytest.mark.parametrize("entry", [b"[     ]", b"{     }", b'{"a":1}'])
def test_the_bound(entry: bytes) -> None:
    def of(number: int) -> msgspec.Raw:
        return msgspec.Raw(b"[" + b",".join([entry] * (number - 1)) + b"]")

    assert len(bytes(of(BRACKETS_MAX))) > UNCOUNTED_BYTES
    assert not are_too_many(of(BRACKETS_MAX))
    assert are_too_many(of(BRACKETS_MAX + 1))


@pytest.mark.parametrize(
    "content",
    [b"word " * UNCOUNTED_BYTES, b"[" * (UNCOUNTED_BYTES + 1), b'\\"{\\\\' * UNCOUNTED_BYTES],
    ids=["words", "brackets", "quotes"],
)
def test_a_text_is_never_too_large(content: bytes) -> None:
    for text in (b'"%b"' % content, b'[{"content":"%b","x":1}]' % content):
        msgspec.json.decode(text)
        assert not are_too_many(msgspec.Raw(text))


def test_what_is_small_is_not_counted() -> None:
    assert not are_too_many(msgspec.Raw(b"[" * UNCOUNTED_BYTES))
