"""How many bytes the event stream parser looks at: the time it takes, without a clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from latchway.wire import sse
from latchway.wire.frame import Frame
from latchway.wire.sse import Parser


@dataclass
class Work:
    """`bytes`: looked through for the end of an event, or copied to be cut."""

    bytes: int = 0


class _Counted:
    """A pattern that counts."""

    def __init__(self, pattern: re.Pattern[bytes], work: Work) -> None:
        self._pattern, self._work = pattern, work

    def search(self, text: bytes, at: int = 0) -> re.Match[bytes] | None:
        found = self._pattern.search(text, at)
        self._work.bytes += (found.end() if found else len(text)) - max(at, 0)
        return found


@contextmanager
def counted() -> Iterator[Work]:
    """What every parser does within the block is added up."""
    work, cut = Work(), Parser._cut

    def counted_cut(parser: Parser, whole: bytes, searched: int) -> list[Frame]:
        work.bytes += len(whole)
        return cut(parser, whole, searched)

    with (
        patch.object(sse, "_BLOCK_END", _Counted(sse._BLOCK_END, work)),
        patch.object(sse, "_LINE_END", _Counted(sse._LINE_END, work)),
        patch.object(Parser, "_cut", counted_cut),
    ):
        yield work
