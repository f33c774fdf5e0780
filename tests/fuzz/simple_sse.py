"""A second reader of event streams: line by line, over the whole stream, with no thought of speed.

It is written from the rule (R5, and the published format of event streams); where the fast parser
differs, one of the two is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n)")
BOM = b"\xef\xbb\xbf"


@dataclass
class Event:
    """What stood between two blank lines. `lines`: those that pass, without their ends."""

    name: bytes = b""
    data: list[bytes] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    complete: bool = True
    """No line of it was left out."""

    @property
    def text(self) -> bytes:
        return b"\n".join(self.data)

    @property
    def is_done(self) -> bool:
        """The mark that some servers end a stream with."""
        return self.text.lstrip().startswith(b"[DONE]")

    def take(self, line: bytes) -> None:
        """One line that is not blank."""
        name, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        no_json = name == b"data" and not self.data and value.lstrip()[:1] == b":"
        if name in (b"", b"id", b"retry") or name.startswith(BOM) or no_json:
            self.complete = False
            return
        self.lines.append(line)
        if name == b"event":
            self.name = value
        if name == b"data":
            self.data.append(value)


def read(stream: bytes) -> tuple[list[Event], Event | None, bool]:
    """The whole events; the one that the end has cut off, if any; whether a `[DONE]` ended all."""
    stream = stream.removeprefix(BOM)
    events: list[Event] = []
    current, end = Event(), 0
    for line in LINE.finditer(stream):
        end = line.end()
        if line[1]:
            current.take(line[1])
            continue
        if current.is_done:
            return events, None, True
        if current.text.strip():
            events.append(current)
        current = Event()
    if stream[end:]:
        current.take(stream[end:])
    return events, current if current.text.strip() else None, False
