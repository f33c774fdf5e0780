"""How much there is to search in a field: told from its bytes, before anything is made of them."""

from __future__ import annotations

import re

import msgspec

UNCOUNTED_BYTES = 512 << 10
"""Of a field up to which its brackets are not counted first: they cannot be too many."""

BRACKETS_MAX = 150_000
"""Objects and lists in a field: a search of about a third of a second. One with more is refused,
for nobody could say whose things it names."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')


def are_too_many(raw: msgspec.Raw) -> bool:
    """`raw`: valid JSON. Brackets in a text are none; few fields are so large that it matters."""
    if len(memoryview(raw)) <= UNCOUNTED_BYTES:
        return False
    data = bytes(raw)
    return _count(data) > BRACKETS_MAX and _count(_STRING.sub(b"", data)) > BRACKETS_MAX


def _count(data: bytes) -> int:
    return data.count(b"{") + data.count(b"[")
