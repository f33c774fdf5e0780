"""WebSocket text frames of a server, made for joining into one write (RFC 6455 5.2).

The library makes and reads everything else; these are on the path of every event.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from latchway.serve.limits import FRAGMENT_BYTES

TEXT, CONTINUATION, FIN = 0x1, 0x0, 0x80
SHORT_MAX, MEDIUM, MEDIUM_MAX, LONG = 125, 126, 0xFFFF, 127

_MEDIUM = Struct("!BBH")
_LONG = Struct("!BBQ")


def text_frames(messages: Iterable[bytes]) -> bytes:
    """Each message as one text frame (the very large in fragments), all in one piece."""
    parts: list[bytes] = []
    for message in messages:
        if len(message) > FRAGMENT_BYTES:
            parts += _fragments(message)
        else:
            parts += (_head(FIN | TEXT, len(message)), message)
    return b"".join(parts)


def _head(first: int, size: int) -> bytes:
    if size <= SHORT_MAX:
        return bytes((first, size))
    if size <= MEDIUM_MAX:
        return _MEDIUM.pack(first, MEDIUM, size)
    return _LONG.pack(first, LONG, size)


def _fragments(message: bytes) -> Iterable[bytes]:
    for start in range(0, len(message), FRAGMENT_BYTES):
        part = message[start : start + FRAGMENT_BYTES]
        first = TEXT if start == 0 else CONTINUATION
        fin = FIN if start + FRAGMENT_BYTES >= len(message) else 0
        yield from (_head(fin | first, len(part)), part)


def valid_text(data: bytes) -> bytes:
    """A text frame must be UTF-8; what an upstream sent otherwise is mended, not passed on."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data
