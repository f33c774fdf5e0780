"""Server-sent events: bytes in, whole frames out, whatever the reads cut them into.

A block that needs nothing taken out passes byte for byte; `id:` and `retry:` lines, comments and
blocks without data are no events and do not pass (R5). Which frames come out never
depends on how the bytes were split into reads, and the time it takes is linear in the bytes.

One choice follows from that. A blank line may end in CR, and whether an LF follows is not known
until the next read, which may never come. The event goes out at the CR. If its lines end in CR,
the block ends there and an LF that follows is dropped; else the LF that is all but certain to
follow is in the block already, and is dropped when it comes.
"""

from __future__ import annotations

import re
import sys
from typing import NoReturn

from latchway.wire.frame import Frame
from latchway.wire.meaning import TERMINAL, frame, run

_BOM = b"\xef\xbb\xbf"
"""At a stream's head it says nothing, within one it makes a line unknown; a line that begins with
it does not pass, for what stands here within a stream may stand at the head of the client's."""
_COLON = ord(":")
_CR = ord("\r")
"""A number: one byte is found in bytes six times faster than bytes of one byte."""
_DONE = b"[DONE]"
_NOT_PASSED = (b"id", b"retry")
"""Fields that would make a client remember something of an upstream that it never called."""

_LINE_END = re.compile(rb"\r\n?|\n")
_COMMENT_END = re.compile(rb"[\r\n]")
"""Without the LF of a CRLF, which may come with the next read: so it never counts as too large."""
_BLOCK_END = re.compile(rb"\n[\r\n]|\r\r")
"""A line end and the first byte of the next one; before that LF there may be a CR."""
_USUAL_LF = re.compile(rb"(?:event: ([^\n]*)\n)?data: (\{[^\n]*)\n\n")
"""One block of the usual shape. Only for bytes without a CR."""
_USUAL_CRLF = re.compile(rb"(?:event: ([^\r\n]*)\r\n)?data: (\{[^\r\n]*)\r\n\r\n")
FEW_BYTES = 1024
"""Of a read that brings an event or two: each is found alone, as is cheaper then."""
REACH_BLOCKS = 8
"""Blocks of the first one's size in which those are looked for that are like it: twice as many
behind a run that has filled half of them, so that short runs cost no more than their length."""
REACH_BYTES = 16 << 10
"""And no more than is still at hand when it is read."""
_OVERLAP = 1
"""Bytes to look at again with the next read: the end of a block is found by two."""


class Oversized(Exception):
    """One event is larger than the parser's bound. `frames`: what was whole before it."""

    def __init__(self, frames: list[Frame], max_event_bytes: int) -> None:
        super().__init__(f"an event is larger than {max_event_bytes} bytes")
        self.frames = frames


class Parser:
    """One stream. Feed it every read in order, then finish it when the body has ended.

    `done`: `data: [DONE]` came, or an event was oversized; further input is ignored.
    `commented`: the last feed held a comment, or a block without data: a sign of life, no event.
    """

    __slots__ = ("_max", "_opened", "_pending", "_searched", "commented", "done")

    def __init__(self, max_event_bytes: int) -> None:
        self.done = False
        self.commented = False
        self._max = max_event_bytes
        self._pending = bytearray()
        self._searched = 0
        self._opened = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that became whole with this read, in order. Raises Oversized."""
        self.commented = False
        if self.done:
            return []
        if self._opened and not self._pending:
            return self._cut(data, 0)
        self._pending += data
        if not (self._opened or self._open()):
            return []
        if not self._may_end(data):
            self._searched = len(self._pending)
            return self._bounded([])
        return self._cut(bytes(self._pending), self._searched - _OVERLAP)

    def finish(self) -> list[Frame]:
        """The body has ended. A terminal event that lacks only its blank line is whole."""
        torn = bytes(self._pending)
        self._pending.clear()
        if self.done or not torn:
            return []
        line_end = _LINE_END.search(torn)
        ends = (line_end[0] if line_end else b"\n") * 2
        last = self._read(torn.rstrip(b"\r\n") + ends)
        return [last] if last is not None and last.kind in TERMINAL else []

    def _open(self) -> bool:
        """Take the byte order mark off, once. False: it is not yet all there."""
        if len(self._pending) < len(_BOM) and _BOM.startswith(self._pending):
            return False
        self._opened = True
        if self._pending.startswith(_BOM):
            del self._pending[: len(_BOM)]
        return True

    def _may_end(self, data: bytes) -> bool:
        """Can this read have ended what was pending? Looks at the new bytes alone."""
        if not self._searched:
            return True
        if b"\n" not in data and b"\r" not in data:
            return False
        return _end(self._pending, 0, self._searched - _OVERLAP) > 0

    def _cut(self, whole: bytes, searched: int) -> list[Frame]:
        """Make frames of all that is whole; the rest is pending. Nothing ends before `searched`."""
        frames: list[Frame] = []
        usual = _USUAL_CRLF if _CR in whole else _USUAL_LF
        if len(whole) > FEW_BYTES:
            start = _pass_runs(usual, whole, self._max, frames)
        else:
            start = _pass_some(usual, whole, 0, self._max, frames)
        if start == len(whole):
            if self._pending:
                self._pending.clear()
                self._searched = 0
            return frames
        while not self.done and start < len(whole):
            start = _after_blank_lines(whole, start)
            end = _end(whole, start, searched)
            if end < 0:
                break
            if end - start > self._max:
                self._refuse(frames)
            self._take(whole[start:end], frames)
            start = end if self.done else _pass_some(usual, whole, end, self._max, frames)
        self._pending = bytearray(b"" if self.done else whole[start:])
        self._searched = len(self._pending)
        return self._bounded(frames)

    def _take(self, unit: bytes, frames: list[Frame]) -> None:
        """A comment, or a block with the blank line that ends it."""
        if unit[0] == _COLON:
            self.commented = True
            return
        found = self._read(unit + b"\n" if unit.endswith(b"\n\r") else unit)
        if found is not None:
            frames.append(found)

    def _read(self, block: bytes) -> Frame | None:
        """The event of a block, or None if it is no event."""
        name, data, passed = _fields(block)
        if data.lstrip().startswith(_DONE):
            self.done = True
            return None
        if not data.strip():
            self.commented = True
            return None
        return frame(data, passed, name)

    def _bounded(self, frames: list[Frame]) -> list[Frame]:
        if len(self._pending) > self._max:
            self._refuse(frames)
        return frames

    def _refuse(self, frames: list[Frame]) -> NoReturn:
        self.done = True
        self._pending.clear()
        raise Oversized(frames, self._max)


def _pass_runs(usual: re.Pattern[bytes], whole: bytes, most: int, frames: list[Frame]) -> int:
    """Pass blocks of the usual shape, up to one that is none; say where. Blocks that differ in
    their data alone pass together. This is the data path."""
    start, ahead = 0, REACH_BLOCKS
    while (found := usual.match(whole, start)) is not None and found.end() - start <= most:
        (data_start, data_end), stop, name = found.span(2), found.end(), found[1] or b""
        head = whole[start:data_start]
        if not whole.startswith(head, stop):
            frames.append(frame(found[2], found[0], name))
            start = stop
            continue
        end, reach = whole[data_end:stop], min(ahead * (stop - start), REACH_BYTES)
        limit = max(stop, start + reach)
        each = _alike(whole[data_start:limit], head, end)
        size = sum(map(len, each)) + len(each) * (len(head) + len(end))
        together = run(each, whole[start : start + size], name) if size <= most else None
        if together is None:
            start = _pass_some(usual, whole, start, most, frames, limit)
        else:
            frames.append(together)
            start += size
        ahead = 2 * ahead if 2 * size > reach else REACH_BLOCKS
    return start


def _alike(text: bytes, head: bytes, end: bytes) -> list[bytes]:
    """The data of the blocks with which `text` begins, behind the first one's `head`, up to one
    that has another head, another end, or data of several lines."""
    each = text.split(end + head)
    last = each.pop()
    if not _one_line(b"".join(each)):
        at = next(at for at, data in enumerate(each) if not _one_line(data))
        last = each[at]
        del each[at:]
    data, ended, _ = last.partition(end)
    if ended and _one_line(data):
        each.append(data)
    return each


def _one_line(data: bytes) -> bool:
    return b"\n" not in data and b"\r" not in data


def _pass_some(
    usual: re.Pattern[bytes], whole: bytes, start: int, most: int, frames: list[Frame],
    limit: int = sys.maxsize,
) -> int:  # fmt: skip
    """Pass blocks of the usual shape and of no more than `most` bytes that begin before `limit`,
    up to one that is none.

    What does not fit is left to `Parser._take`, which would make the same frames of these.
    """
    limit = min(limit, len(whole))
    while start < limit and (found := usual.match(whole, start)) is not None:
        block, name, data = found.group(0, 1, 2)
        if len(block) > most:
            break
        frames.append(frame(data, block, name or b""))
        start += len(block)
    return start


def _after_blank_lines(text: bytes, start: int) -> int:
    """Blank lines between blocks say nothing; so does the LF of a CRLF that ended the last one."""
    while start < len(text) and text[start] in b"\r\n":
        start += 1
    return start


def _end(text: bytes | bytearray, start: int, searched: int) -> int:
    """Where the comment or block that begins at `start` ends; -1: it is not whole."""
    if start >= len(text):
        return -1
    pattern = _COMMENT_END if text[start] == _COLON else _BLOCK_END
    found = pattern.search(text, max(start, searched))
    return found.end() if found else -1


def _fields(block: bytes) -> tuple[bytes, bytes, bytes]:
    """Name, data (lines joined by LF) and the block without the lines that do not pass."""
    name = b""
    data: list[bytes] = []
    passed: list[bytes] = []
    lines = block.splitlines(keepends=True)[:-1]
    for line in lines:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        value = value.removeprefix(b" ")
        if field in _NOT_PASSED or field.startswith(_BOM) or _is_comment(line, field, value, data):
            continue
        passed.append(line)
        if field == b"event":
            name = value
        elif field == b"data":
            data.append(value)
    return name, b"\n".join(data), block if len(passed) == len(lines) else _joined(passed)


def _joined(lines: list[bytes]) -> bytes:
    """A block of these lines. The blank line ends as the last one does, for the LF that ended it
    may now stand behind a CR, where it would be no line of its own."""
    text = b"".join(lines)
    return text + text[len(text.rstrip(b"\r\n")) :]


def _is_comment(line: bytes, field: bytes, value: bytes, data: list[bytes]) -> bool:
    """A comment, also in the wrong dress, `data: : …`: no JSON begins with a colon."""
    if line[0] == _COLON:
        return True
    return field == b"data" and not data and value.lstrip().startswith(b":")
