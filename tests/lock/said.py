"""What an upstream says in a script, as events of the turn.

| words | event |
|---|---|
| `lifecycle TYPE`, `neutral TYPE`, `output TYPE` | an event of that class |
| `completed …`, `incomplete …` | a result |
| `failed CODE …`, `error CODE …` | a failure; `-`: it has no code |
| `A + B` | two events in one read |
| `answered STATUS CODE …` | a whole HTTP answer that is no stream |
| `head STATUS`, `comment`, `oversized` | the rest of an answer |
| `broke`, `closed` | a reset, a close in the middle; `begun`: not streamed, behind the head |
| `ended`, `done`, `page` | the body's clean end, `[DONE]`, a page: nothing more will come |
| `connected`, `sent` | the request can be written, is written |

Then maybe: `N in, N out` (usage), `absurd usage`, `of N bytes`, `N bytes of text`, `retry after N`,
`marked retryable`, `marked final`, `with output` and `with status S` (in the response object of the
event), `with a detail` (all that an answer without a code says). A code of digits is a number.
"""

from __future__ import annotations

import re

import msgspec

from latchway.turn import events as on
from latchway.wire.frame import Answer, Frame, Kind, Note, Usage

USAGE = re.compile(r"(\d+) in, (\d+) out")
BYTES = re.compile(r"of (\d+) bytes")
TEXT = re.compile(r"(\d+) bytes of text")
WAIT = re.compile(r"retry after (\d+)")
MARK = re.compile(r"marked (retryable|final)")
STATUS = re.compile(r"with status (\w+)")

CODED = frozenset({Kind.FAILED, Kind.ERROR})
RESULTS = frozenset({Kind.COMPLETED, Kind.INCOMPLETE})
TYPES = {
    Kind.COMPLETED: "response.completed",
    Kind.INCOMPLETE: "response.incomplete",
    Kind.FAILED: "response.failed",
    Kind.ERROR: "error",
}

DETAIL = b'{"detail":"Said by the upstream."}'
"""What a server says that has an error object of another make than OpenAI's."""

USUAL_TEXT_BYTES = 4


def event(attempt: int, words: str) -> on.UpstreamEvent:
    """The event that the words stand for. ValueError: they stand for none."""
    kind, _, rest = words.partition(" ")
    match kind:
        case "head":
            return on.Headed(attempt, int(rest))
        case "connected":
            return on.Connected(attempt)
        case "sent":
            return on.Sent(attempt)
        case "comment":
            return on.Commented(attempt)
        case "broke" | "closed" | "ended" | "done" | "page":
            return on.Broke(attempt, kind, begun=rest == "begun")
        case "oversized":
            return on.Oversized(attempt)
        case "answered":
            return on.Answered(attempt, _answer(rest))
    return on.Arrived(attempt, tuple(_frame(attempt, each) for each in words.split(" + ")))


def label(frame: Frame) -> str:
    """How a delivered frame is recorded: the attempt it is of, its type, its code."""
    return frame.data.decode()


def _frame(attempt: int, words: str) -> Frame:
    said, _, rest = words.partition(" ")
    kind = Kind(said)
    name = rest.split(" ")[0] if kind not in RESULTS else ""
    code = name if kind in CODED and name != "-" else None
    data = " ".join(filter(None, [str(attempt), TYPES.get(kind, name), code])).encode()
    size = _number(BYTES, words)
    block = data if size is None else data.ljust(size)
    if kind is Kind.OUTPUT:
        text_bytes = _number(TEXT, words)
        return Frame(kind, data, block, USUAL_TEXT_BYTES if text_bytes is None else text_bytes)
    known = kind is not Kind.NEUTRAL and kind is not Kind.ERROR
    return Frame(kind, data, block, 0, _note(words, code, f"resp_{attempt}" if known else None))


def _answer(words: str) -> Answer:
    status, code = words.split(" ")[:2]
    if code == "-":
        body = DETAIL if "with a detail" in words else b""
        return Answer(int(status), body, note=_note(words, None, None))
    error = {"code": code, "message": "said by the upstream"}
    return Answer(int(status), note=msgspec.structs.replace(_note(words, code, None), error=error))


def _note(words: str, code: str | None, response_id: str | None) -> Note:
    usage, mark, status = USAGE.search(words), MARK.search(words), STATUS.search(words)
    counts = Usage(*map(int, usage.groups())) if usage else None
    absurd = "absurd usage" in words
    return Note(
        response_id=response_id,
        status=status[1] if status else None,
        metered=absurd or (counts is not None and counts != Usage(0, 0)),
        usage=counts,
        usage_absurd=absurd,
        output="with output" in words,
        code=code,
        retryable=mark[1] == "retryable" if mark else None,
        retry_after=_number(WAIT, words),
    )


def _number(pattern: re.Pattern[str], words: str) -> int | None:
    found = pattern.search(words)
    return int(found[1]) if found else None
