"""What one upstream call will meet: its connection, its answer, and the fault in it, by seed.

A script is bytes with their delays. Beside them stands what the bytes mean and from which byte on
it has arrived, for whoever judges the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from sim import events
from sim.events import Event, Maker

NEVER = 1e9
"""Seconds: what is this late never comes."""

WAITING, HOLDING, RELEASED, STREAMING = "waiting", "holding", "released", "streaming"
PHASES = (WAITING, HOLDING, RELEASED, STREAMING)

DIALS = ("refused", "no_name", "no_tls", "no_answer", "os_timeout")
BREAKS = ("reset", "end", "torn", "chunk_end", "done", "garbage", "silence", "oversized")
STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 524, 529, 302, 307)


@dataclass(slots=True)
class Step:
    """After `delay` seconds these bytes arrive, or the end does (`fin` | `rst`)."""

    delay: float
    data: bytes = b""
    end: str | None = None


@dataclass(slots=True)
class Answer:
    """An HTTP answer that is no stream: what a turn makes of it once it is whole."""

    status: int
    body: bytes
    kind: str
    """refusal | error | result | neither"""
    retryable: bool = False
    metered: bool = False
    event: Event | None = None


@dataclass(slots=True)
class Script:
    """`fault`: its name, for what is counted. `marks`: events, and the offset in the answer's bytes
    at which each is whole. `done_at`: where `[DONE]` ends the stream."""

    fault: str = "none"
    dial: str | None = None
    dial_delay: float = 0.0
    early: bool = False
    """It answers before the request is all there."""
    steps: list[Step] = field(default_factory=list)
    marks: list[tuple[int, Event]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    """Where in `marks` an event of a number stands."""
    head_at: int = 0
    answer: Answer | None = None
    answer_at: int = 0
    done_at: int | None = None
    broken_at: int | None = None
    """Where the bytes stop being HTTP or are no longer wanted (oversized)."""
    keep: bool = False
    """The server takes another request on the connection."""


class Writer:
    """Builds a script: bytes first, then the cuts and delays of their arrival."""

    def __init__(self, random: Random, maker: Maker, hold: float) -> None:
        self.random, self.maker, self.hold = random, maker, hold
        self.script = Script(dial_delay=random.choice((0.0, 0.001, 0.02, 0.4, 3.0)))
        self._at = 0
        self._chunked = True

    # ---- bytes

    def send(self, data: bytes, delay: float | None = None) -> None:
        """Bytes that arrive together, or cut in two."""
        wait = self._pause() if delay is None else delay
        self._at += len(data)
        if len(data) > 2 and self.random.random() < 0.15:
            cut = self.random.randrange(1, len(data))
            self.script.steps.append(Step(wait, data[:cut]))
            self.script.steps.append(Step(self.random.choice((0.0, 0.0, 0.003, 0.2)), data[cut:]))
        else:
            self.script.steps.append(Step(wait, data))

    def end(self, how: str, delay: float | None = None) -> None:
        self.script.steps.append(Step(self._pause() if delay is None else delay, b"", how))

    def _pause(self) -> float:
        return self.random.choice(PAUSES)

    def head(self, status: int = 200, *fields: bytes, kind: bytes = b"text/event-stream") -> None:
        framing = b"transfer-encoding: chunked" if self._chunked else b"x-ends: with the connection"
        lines = [b"HTTP/1.1 %d S" % status, b"content-type: " + kind, framing, *fields]
        lines.append(b"x-request-id: up_%d" % self.maker.call)
        self.send(b"\r\n".join(lines) + b"\r\n\r\n")
        self.script.head_at = self._at

    def stream_head(self) -> None:
        self._chunked = self.random.random() < 0.9
        if self.random.random() < 0.05:
            self.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        self.head()

    def _chunk(self, data: bytes) -> tuple[bytes, int]:
        """The data as it travels, and how many bytes go before it."""
        if not self._chunked:
            return data, 0
        size = b"%x\r\n" % len(data)
        return size + data + b"\r\n", len(size)

    def say(self, *events_: Event, delay: float | None = None) -> None:
        """Events that arrive in one piece."""
        travelling = bytearray()
        for event in events_:
            data, before = self._chunk(event.raw)
            short = 1 if event.raw.endswith(b"\r\n") else 0
            whole = self._at + len(travelling) + before + len(event.raw) - short
            self.script.places[event.number] = len(self.script.marks)
            self.script.marks.append((whole, event))
            travelling += data
        self.send(bytes(travelling), delay)

    def raw(self, data: bytes, delay: float | None = None) -> int:
        """Bytes of the body that are no event; returns where they end."""
        travelling, before = self._chunk(data)
        whole = self._at + before + len(data)
        self.send(travelling, delay)
        return whole

    def clean_end(self) -> None:
        """The body ends as it should; the connection then stays, closes, or is left open."""
        if not self._chunked:
            self.end("fin")
            return
        sort = self.random.random()
        if sort < 0.75:
            self.send(b"0\r\n\r\n", 0.0 if sort < 0.6 else None)
            self.script.keep = sort < 0.6
        elif sort < 0.9:
            self.end("fin", self.random.choice((0.0, 0.5, 4.0)))

    # ---- up to a phase

    def reach(self, phase: str) -> None:
        """Let the answer come as far as this phase."""
        if phase == WAITING:
            if self.random.random() < 0.6:
                self.stream_head()
                self.noise()
            return
        self.stream_head()
        self.noise()
        self.say(*(self.maker.lifecycle() for _ in range(self.random.randint(1, 2))))
        self.noise()
        if phase == RELEASED:
            self.say(self.maker.lifecycle(), delay=self.hold + 0.5)
        if phase == STREAMING:
            self.outputs(self.random.randint(1, 5))

    def noise(self) -> None:
        """Comments and neutral events: signs of life."""
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            if self.random.random() < 0.5:
                self.raw(b": still here\n\n")
            else:
                self.say(self.maker.neutral())

    def outputs(self, number: int) -> None:
        for _ in range(number):
            together = self.random.choice((1, 1, 1, 3))
            self.say(*(self.maker.output() for _ in range(together)))


PAUSES = (0.0, 0.0, 0.001, 0.01, 0.05, 0.3, 0.9, 1.1, 2.5)


def script_of(
    random: Random, call: int, *, streamed: bool, hold: float, event_bytes: int, calm: bool
) -> Script:
    """What call number `call` meets. `calm`: nothing goes wrong."""
    writer = Writer(random, Maker(random, call), hold)
    if calm or random.random() < 0.4:
        (_healthy if streamed else _whole_result)(writer)
    elif streamed:
        random.choices(STREAMED, STREAMED_WEIGHTS)[0](writer, event_bytes)
    else:
        random.choices(UNSTREAMED, UNSTREAMED_WEIGHTS)[0](writer, event_bytes)
    return writer.script


def _healthy(writer: Writer) -> None:
    random = writer.random
    writer.reach(random.choices((WAITING, HOLDING, RELEASED, STREAMING), (1, 4, 1, 14))[0])
    if not writer.script.head_at:
        writer.stream_head()
    if random.random() < 0.05:
        writer.outputs(random.randint(20, 60))
    result = writer.maker.result()
    if random.random() < 0.3:
        writer.say(writer.maker.output(), result)
    else:
        writer.say(result)
    _after_the_end(writer)


def _after_the_end(writer: Writer) -> None:
    """What comes behind a terminal event is nobody's."""
    sort = writer.random.random()
    if sort < 0.06:
        writer.say(writer.maker.output(), delay=0.001)
    elif sort < 0.10:
        writer.say(writer.maker.result(), delay=0.0)
    elif sort < 0.25:
        writer.raw(b"data: [DONE]\n\n", 0.0)
    writer.clean_end()


def _dial(writer: Writer, event_bytes: int) -> None:
    """No connection; on one that is already there, the server is gone."""
    script = writer.script
    script.fault = script.dial = writer.random.choice(DIALS)
    writer.end("rst")


def _break(writer: Writer, event_bytes: int) -> None:
    random, script = writer.random, writer.script
    script.fault = fault = random.choice(BREAKS)
    writer.reach(random.choice(PHASES))
    if not script.head_at and fault not in ("reset", "end", "silence"):
        writer.stream_head()
    if fault == "torn":
        writer.raw(writer.maker.output().raw[:-3])
    if fault == "done":
        script.done_at = writer.raw(b"data: [DONE]\n\n")
    if fault == "garbage":
        script.broken_at = writer._at + 1 if writer._chunked else None
        writer.send(b"zz what is this\r\n" if writer._chunked else b"\x00")
    if fault == "oversized":
        _oversized(writer, event_bytes)
    if fault == "chunk_end" and writer._chunked:
        writer.send(b"0\r\n\r\n")
        script.broken_at = writer._at
    BREAK_ENDS[fault](writer)


def _oversized(writer: Writer, event_bytes: int) -> None:
    """An event that does not end: it is too large before it is whole."""
    start = writer._at
    writer.raw(b"data: " + b"x" * (event_bytes + 10))
    writer.script.broken_at = start + event_bytes


def _silent(writer: Writer) -> None:
    """Nothing more comes."""


BREAK_ENDS: dict[str, Callable[[Writer], None]] = {
    "reset": lambda w: w.end("rst", w.random.choice((0.0, 0.0, 0.4))),
    "end": lambda w: w.end("fin"),
    "torn": lambda w: w.end(w.random.choice(("fin", "rst"))),
    "chunk_end": lambda w: None if w._chunked else w.end("fin"),
    "done": lambda w: w.end("fin", w.random.choice((0.0, 5.0))),
    "garbage": lambda w: w.end("fin", 1.0),
    "silence": _silent,
    "oversized": _silent,
}


def _overflow(writer: Writer, event_bytes: int) -> None:
    """More is held than may be."""
    writer.script.fault = "overflow"
    writer.stream_head()
    for _ in range(60):
        sort = writer.random.random()
        writer.say(writer.maker.lifecycle() if sort < 0.8 else writer.maker.neutral(), delay=0.01)
    writer.end("fin")


def _failed(writer: Writer, event_bytes: int) -> None:
    sort = writer.random.choice(events.SORTS)
    writer.script.fault = f"failed_{sort}"
    writer.reach(writer.random.choice(PHASES))
    _head_if_none(writer)
    writer.say(*_before(writer), writer.maker.failure(sort, events.FAILED))
    _after_the_end(writer)


def _before(writer: Writer) -> list[Event]:
    """Something in the same read as the failure, at times."""
    sort = writer.random.random()
    if sort < 0.1:
        return [writer.maker.output()]
    return [writer.maker.lifecycle(metered=sort < 0.2)] if sort < 0.3 else []


def _head_if_none(writer: Writer) -> None:
    if not writer.script.head_at:
        writer.stream_head()


def _error(writer: Writer, event_bytes: int) -> None:
    """An `error`, and what follows it within the second or after it."""
    random = writer.random
    sort = random.choice(events.SORTS)
    then = random.choice(("nothing", "end", "failed", "failed", "late", "output", "reset"))
    writer.script.fault = f"error_{sort}" if then != "failed" else "pair"
    writer.reach(random.choice(PHASES))
    _head_if_none(writer)
    error = writer.maker.failure(sort, events.ERROR)
    second = writer.maker.failure(random.choice(events.SORTS), events.FAILED)
    if then == "failed" and random.random() < 0.5:
        writer.say(error, second)
    else:
        writer.say(error)
        if random.random() < 0.3:
            writer.say(writer.maker.neutral(), delay=0.1)
        AFTER_ERROR[then](writer, second)
    writer.clean_end()


AFTER_ERROR: dict[str, Callable[[Writer, Event], None]] = {
    "nothing": lambda w, e: w.script.steps.append(Step(NEVER)),
    "end": lambda w, e: None,
    "failed": lambda w, e: w.say(e, delay=w.random.choice((0.0, 0.2, 0.6))),
    "late": lambda w, e: w.say(e, delay=1.5),
    "output": lambda w, e: w.say(w.maker.output(), delay=w.random.choice((0.0, 0.3))),
    "reset": lambda w, e: w.end("rst", 0.3),
}


# ---- answers that are no stream


def _refusal(writer: Writer, event_bytes: int) -> None:
    random = writer.random
    status = random.choice(STATUSES)
    sort = random.choice((*events.SORTS, "bare", "html"))
    writer.script.fault = f"status_{status}"
    body, code, mark = _error_body(random, sort)
    answer = Answer(status, body, "refusal", metered=sort == "metered")
    answer.retryable = refusal_retryable(status, code, mark)
    writer.script.early = random.random() < 0.2
    _whole(writer, answer, b"text/html" if sort == "html" else b"application/json")


def _error_body(random: Random, sort: str) -> tuple[bytes, str | None, bool | None]:
    if sort in ("bare", "html"):
        return (b"", None, None) if sort == "bare" else (b"<h1>No</h1>", None, None)
    code = random.choice(events.CODES[sort])
    mark = {"yes": True, "no": False}.get(sort)
    said = events.MARKS.get(sort, b"")
    rest = b',"usage":{"input_tokens":3,"output_tokens":4}' if sort == "metered" else b""
    body = b'{"error":{"message":"No.","code":"%b"%b}%b}' % (code.encode(), said, rest)
    return body, code or None, mark


def refusal_retryable(status: int, code: str | None, mark: bool | None) -> bool:
    """The first line that fits (R2, "HTTP error answers")."""
    if status in (408, 504, 524):
        return False
    if status == 401 or 300 <= status < 400:
        return True
    if mark is not None:
        return mark
    if code in events.RETRYABLE:
        return True
    if code in events.FINAL:
        return False
    return status in (402, 403, 429, 500, 502, 503, 520, 521, 522, 523, 525, 526, 529, 530)


def _whole(writer: Writer, answer: Answer, kind: bytes) -> None:
    """An answer with its length."""
    script, random = writer.script, writer.random
    script.answer = answer
    late = random.random() < 0.1
    fields = [b"content-length: %d" % len(answer.body)]
    if 300 <= answer.status < 400:
        fields.append(b"location: /elsewhere")
    lines = [b"HTTP/1.1 %d S" % answer.status, b"content-type: " + kind, *fields]
    writer.send(b"\r\n".join(lines) + b"\r\n\r\n")
    script.head_at = writer._at
    if answer.body:
        writer.send(answer.body, 7.0 if late else None)
    script.answer_at = writer._at
    script.keep = True
    if random.random() < 0.3:
        writer.end("fin")
        script.keep = False


def _json_error(writer: Writer, event_bytes: int) -> None:
    """200, and yet an error."""
    random = writer.random
    sort = random.choice(events.SORTS)
    writer.script.fault = "error_under_200"
    body, code, mark = _error_body(random, sort)
    answer = Answer(200, body, "error", metered=sort == "metered")
    answer.retryable = refusal_retryable(200, code, mark)
    _whole(writer, answer, b"application/json")


def _neither(writer: Writer, event_bytes: int) -> None:
    """200, and nothing that could be used."""
    writer.script.fault = "neither"
    _whole(writer, Answer(200, b"<h1>Welcome</h1>", "neither"), b"text/html")


def _response_object(writer: Writer, *, failing: bool) -> Answer:
    maker = writer.maker
    tag = b'"tag":"c%d.%d;"' % maker._count()
    if failing:
        sort = writer.random.choice(events.SORTS)
        event = maker.failure(sort, events.FAILED)
        code = b'{"code":"%b","message":"No."%b}' % (
            (event.code or "").encode(), events.MARKS.get(sort, b""),
        )  # fmt: skip
        rest = b',"usage":{"input_tokens":3,"output_tokens":4}' if sort == "metered" else b""
        event.tokens = (3, 0, 4, 0) if sort == "metered" else None
        event.metered = sort == "metered"
        body = maker._response(b"failed", b',"error":%b%b,%b' % (code, rest, tag))
        answer = Answer(200, body, "result", retryable=event.retryable, metered=event.metered)
    else:
        event = maker.result()
        said, event.metered, event.tokens = events.usage(writer.random)
        text = b"w" * writer.random.randint(0, 50)
        event.text_bytes = 0 if event.tokens is not None else len(text)
        rest = b',"usage":%b,"output":[{"text":"%b"}],%b' % (said, text, tag)
        status = writer.random.choice((b"completed", b"completed", b"incomplete"))
        event.kind = status.decode()
        body = maker._response(status, rest)
        answer = Answer(200, body, "result", metered=event.metered)
    event.data = event.block = body
    answer.body, answer.event = body, event
    return answer


def _whole_result(writer: Writer, event_bytes: int = 0) -> None:
    _whole(writer, _response_object(writer, failing=False), b"application/json")


def _whole_failed(writer: Writer, event_bytes: int) -> None:
    writer.script.fault = "failed_whole"
    _whole(writer, _response_object(writer, failing=True), b"application/json")


def _whole_torn(writer: Writer, event_bytes: int) -> None:
    """Broken before the status line, within the answer, or never answered."""
    random, script = writer.random, writer.script
    script.fault = random.choice(("reset", "end", "silence"))
    if random.random() < 0.5:
        answer = _response_object(writer, failing=False)
        length = b"content-length: %d" % len(answer.body)
        writer.send(b"HTTP/1.1 200 S\r\ncontent-type: application/json\r\n%b\r\n\r\n" % length)
        script.head_at = writer._at
        writer.send(answer.body[:-9])
    BREAK_ENDS[script.fault](writer)


STREAMED = (_dial, _break, _overflow, _failed, _error, _refusal, _json_error, _neither,
            _whole_result, _whole_failed)  # fmt: skip
STREAMED_WEIGHTS = (14, 40, 3, 22, 26, 20, 3, 3, 3, 3)
UNSTREAMED = (_dial, _whole_torn, _whole_failed, _refusal, _json_error, _neither)
UNSTREAMED_WEIGHTS = (10, 20, 12, 14, 4, 4)
