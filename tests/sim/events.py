"""Events of an upstream, each with its tag: whose it is, and what a reader of the rule must know.

This knows the protocol by itself: what is asked of a turn must not be read by the turn's own eyes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

RETRYABLE = (
    "server_error", "server_is_overloaded", "rate_limit_exceeded", "slow_down",
    "insufficient_quota", "model_not_found", "invalid_api_key",
)  # fmt: skip
FINAL = (
    "context_length_exceeded", "invalid_prompt", "cyber_policy", "invalid_request_error",
    "unsupported_parameter", "request_too_large",
)  # fmt: skip
UNKNOWN = ("odd", "strange_thing", "")

LIFECYCLE, NEUTRAL, OUTPUT = "lifecycle", "neutral", "output"
COMPLETED, INCOMPLETE, FAILED, ERROR = "completed", "incomplete", "failed", "error"
RESULTS = (COMPLETED, INCOMPLETE)
TERMINAL = (COMPLETED, INCOMPLETE, FAILED, ERROR)

Tokens = tuple[int, int, int, int]
"""input, cached, output, reasoning"""


@dataclass(slots=True)
class Event:
    """One event. `raw`: as sent; `block`: as it may reach a client; `data`: its JSON."""

    kind: str
    data: bytes
    raw: bytes = b""
    block: bytes = b""
    metered: bool = False
    """It shows that work was done: usage that is not all zero, or output within."""
    tokens: Tokens | None = None
    """Its usage, if it can be billed."""
    retryable: bool = False
    """Of a failure."""
    code: str | None = None
    text_bytes: int = 0
    number: int = 0
    """In its call, as its tag says."""

    @property
    def observed(self) -> bool:
        """Does it, once it has arrived, forbid a replay?"""
        return self.metered or self.kind in (OUTPUT, *RESULTS)


def usage(random: Random) -> tuple[bytes, bool, Tokens | None]:
    """A usage: its JSON, whether it meters, what can be billed."""
    sort = random.random()
    if sort < 0.08:
        return b"null", False, None
    if sort < 0.14:
        return b'{"input_tokens":0,"output_tokens":0,"total_tokens":0}', False, (0, 0, 0, 0)
    if sort < 0.20:
        return random.choice(ABSURD), True, None
    taken, made = random.randint(1, 400), random.randint(1, 90)
    if sort < 0.25:
        made *= 1000
    cached, reasoning = random.randint(0, taken), random.randint(0, made)
    text = (
        b'{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,'
        b'"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}'
    )
    said = text % (taken, cached, made, reasoning, taken + made)
    return said, True, (taken, cached, made, reasoning)


ABSURD = (
    b'{"input_tokens":-1,"output_tokens":5}',
    b'{"input_tokens":10,"output_tokens":2.5}',
    b'{"input_tokens":10,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":6}}',
    b'{"input_tokens":true,"output_tokens":5}',
    b'"many"',
)


class Maker:
    """Makes the events of one call, numbered."""

    def __init__(self, random: Random, call: int) -> None:
        self.random, self.call = random, call
        self.response_id = f"resp_{call}"
        self._number = 0
        self._eol = random.choice((b"\n",) * 8 + (b"\r\n", b"\r"))

    def _tag(self) -> bytes:
        self._number += 1
        return b'"sequence_number":%d,"tag":"c%d.%d;"' % (
            self._number - 1, self.call, self._number - 1,
        )  # fmt: skip

    def _dress(self, event: Event, name: bytes) -> Event:
        """As a block of server-sent events, sometimes with what is no event in it."""
        eol, event.number = self._eol, self._number - 1
        named = b"event: %b%b" % (name, eol) if name and self.random.random() < 0.9 else b""
        event.block = b"%bdata: %b%b%b" % (named, event.data, eol, eol)
        extra = self.random.random()
        if extra < 0.04:
            event.raw = b"id: 7%b%b" % (eol, event.block)
        elif extra < 0.07:
            event.raw = b": a comment%b%b%b" % (eol, eol, event.block)
        elif extra < 0.09:
            event.raw = b"%b: another%bretry: 9%bdata: %b%b%b" % (
                named, eol, eol, event.data, eol, eol,
            )  # fmt: skip
        else:
            event.raw = event.block
        return event

    def response(self, status: bytes, rest: bytes = b"") -> bytes:
        return b'{"id":"%b","object":"response","created_at":17,"status":"%b","model":"u"%b}' % (
            self.response_id.encode(), status, rest,
        )  # fmt: skip

    def lifecycle(self, *, metered: bool = False) -> Event:
        name = self.random.choice(
            (b"response.created", b"response.in_progress", b"response.queued")
        )
        rest, tokens, seen = b"", None, False
        if metered:
            said, seen, tokens = usage(self.random)
            rest = b',"usage":' + said
            if not seen:
                rest, seen, tokens = b',"output":[{"type":"message"}]', True, None
        elif self.random.random() < 0.2:
            rest = b',"usage":{"input_tokens":0,"output_tokens":0},"output":[]'
        data = b'{"type":"%b","response":%b,%b}' % (
            name, self.response(b"in_progress", rest), self._tag(),
        )  # fmt: skip
        return self._dress(Event(LIFECYCLE, data, metered=seen, tokens=tokens), name)

    def neutral(self) -> Event:
        name = self.random.choice((b"keepalive", b"ping", b"codex.rate_limits"))
        return self._dress(Event(NEUTRAL, b'{"type":"%b",%b}' % (name, self._tag())), name)

    def output(self, size: int | None = None) -> Event:
        sort = self.random.random()
        if size is None and sort < 0.06:
            return self._dress(Event(OUTPUT, b"{broken c%d.%d;" % self.count()), b"")
        if size is None and sort < 0.12:
            data = b'{"type":"response.of_the_future","x":[1,2],%b}' % self._tag()
            return self._dress(Event(OUTPUT, data), b"response.of_the_future")
        text = b"w" * (self.random.randint(1, 40) if size is None else size)
        data = b'{"type":"response.output_text.delta","delta":"%b",%b}' % (text, self._tag())
        event = Event(OUTPUT, data, text_bytes=len(text))
        return self._dress(event, b"response.output_text.delta")

    def count(self) -> tuple[int, int]:
        self._number += 1
        return self.call, self._number - 1

    def result(self) -> Event:
        kind = COMPLETED if self.random.random() < 0.9 else INCOMPLETE
        said, metered, tokens = usage(self.random)
        made = self.response(kind.encode(), b',"usage":' + said)
        name = b"response." + kind.encode()
        data = b'{"type":"%b","response":%b,%b}' % (name, made, self._tag())
        return self._dress(Event(kind, data, metered=metered, tokens=tokens), name)

    def failure(self, sort: str, kind: str) -> Event:
        """`sort`: retryable | final | unknown | yes | no (marked) | metered (and retryable)."""
        code = self.random.choice(CODES[sort])
        mark = MARKS.get(sort, b"")
        error = b'{"code":"%b","message":"No."%b}' % (code.encode(), mark)
        if sort == "unknown" and not code:
            error = b'{"message":"No."}'
        seen, tokens, rest = False, None, b""
        if sort == "metered":
            rest, seen, tokens = self._metered()
        elif self.random.random() < 0.1:
            rest, tokens = b',"usage":{"input_tokens":0,"output_tokens":0}', (0, 0, 0, 0)
        shape = SHAPES[kind] if kind == FAILED or sort == "metered" else self._error_shape()
        data = shape(self, error, rest, self._tag())
        event = Event(kind, data, metered=seen, tokens=tokens, code=code or None)
        told = RETRY[sort]
        event.retryable = kind == FAILED if told is None else told
        return self._dress(event, b"response.failed" if kind == FAILED else b"error")

    def _metered(self) -> tuple[bytes, bool, Tokens | None]:
        while True:
            said, seen, tokens = usage(self.random)
            if seen:
                return b',"usage":' + said, seen, tokens

    def _error_shape(self) -> Callable[..., bytes]:
        return _nested if self.random.random() < 0.7 else _with_status

    def _failed(self, error: bytes, rest: bytes, tag: bytes) -> bytes:
        made = self.response(b"failed", b',"error":%b%b' % (error, rest))
        return b'{"type":"response.failed","response":%b,%b}' % (made, tag)


def _nested(maker: Maker, error: bytes, rest: bytes, tag: bytes) -> bytes:
    return b'{"type":"error","error":%b%b,%b}' % (error, rest, tag)


def _with_status(maker: Maker, error: bytes, rest: bytes, tag: bytes) -> bytes:
    return b'{"type":"error","status":500,"error":%b%b,%b}' % (error, rest, tag)


SHAPES: dict[str, Callable[..., bytes]] = {FAILED: Maker._failed, ERROR: _nested}

CODES = {
    "retryable": RETRYABLE, "final": FINAL, "unknown": UNKNOWN, "yes": FINAL + UNKNOWN,
    "no": RETRYABLE + UNKNOWN, "metered": RETRYABLE,
}  # fmt: skip
MARKS = {"yes": b',"retryable":true', "no": b',"retryable":false'}
RETRY: dict[str, bool | None] = {
    "retryable": True, "final": False, "unknown": None, "yes": True, "no": False, "metered": True,
}  # fmt: skip
SORTS = tuple(CODES)
