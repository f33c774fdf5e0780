"""What can go wrong with an upstream call, by seed: each way is a script of its own."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sim import events
from sim.events import Event, Maker
from sim.scripts import (
    HOLDING,
    NEVER,
    PHASES,
    RELEASED,
    STREAMING,
    WAITING,
    Answer,
    Script,
    Step,
    Writer,
)

DIALS = ("refused", "no_name", "no_tls", "no_answer", "os_timeout")
BREAKS = ("reset", "end", "torn", "chunk_end", "done", "garbage", "silence", "oversized")
STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 524, 529, 302, 307)


def script_of(
    random: Random, call: int, *, streamed: bool, hold: float, event_bytes: int, calm: bool,
    pressed: bool,
) -> Script:  # fmt: skip
    """What call number `call` meets. `calm`: nothing goes wrong. `pressed`: its client is slow from
    the start, a good hour for what must be read all the same."""
    writer = Writer(random, Maker(random, call), hold)
    if pressed and streamed:
        random.choice((_early_reset, _error))(writer, event_bytes)
    elif calm or random.random() < 0.4:
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


def _early_reset(writer: Writer, event_bytes: int) -> None:
    """The server answers while the request is being written, and breaks: the write that finds it
    must not hide what had arrived (law 6)."""
    writer.script.fault, writer.script.early = "early_reset", True
    writer.stream_head()
    writer.say(writer.maker.output(), delay=0.0)
    more = (writer.maker.output, writer.maker.lifecycle, writer.maker.result)
    writer.say(writer.random.choice(more)(), delay=0.001)
    writer.end("rst", 0.0)
    writer.script.dial_delay = 0.0
    for step in writer.script.steps:
        step.delay = min(step.delay, 0.001)


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
        script.broken_at = writer.at + 1 if writer.chunked else None
        writer.send(b"zz what is this\r\n" if writer.chunked else b"\x00")
    if fault == "oversized":
        _oversized(writer, event_bytes)
    if fault == "chunk_end" and writer.chunked:
        writer.send(b"0\r\n\r\n")
        script.broken_at = writer.at
    BREAK_ENDS[fault](writer)


def _oversized(writer: Writer, event_bytes: int) -> None:
    """An event that does not end: it is too large before it is whole."""
    start = writer.at
    writer.raw(b"data: " + b"x" * (event_bytes + 10))
    writer.script.broken_at = start + event_bytes


def _silent(writer: Writer) -> None:
    """Nothing more comes."""


BREAK_ENDS: dict[str, Callable[[Writer], None]] = {
    "reset": lambda w: w.end("rst", w.random.choice((0.0, 0.0, 0.4))),
    "end": lambda w: w.end("fin"),
    "torn": lambda w: w.end(w.random.choice(("fin", "rst"))),
    "chunk_end": lambda w: None if w.chunked else w.end("fin"),
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
    script.head_at = writer.at
    if answer.body:
        writer.send(answer.body, 7.0 if late else None)
    script.answer_at = writer.at
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
    tag = b'"tag":"c%d.%d;"' % maker.count()
    if failing:
        sort = writer.random.choice(events.SORTS)
        event = maker.failure(sort, events.FAILED)
        code = b'{"code":"%b","message":"No."%b}' % (
            (event.code or "").encode(), events.MARKS.get(sort, b""),
        )  # fmt: skip
        rest = b',"usage":{"input_tokens":3,"output_tokens":4}' if sort == "metered" else b""
        event.tokens = (3, 0, 4, 0) if sort == "metered" else None
        event.metered = sort == "metered"
        body = maker.response(b"failed", b',"error":%b%b,%b' % (code, rest, tag))
        answer = Answer(200, body, "result", retryable=event.retryable, metered=event.metered)
    else:
        event = maker.result()
        said, event.metered, event.tokens = events.usage(writer.random)
        text = b"w" * writer.random.randint(0, 50)
        event.text_bytes = 0 if event.tokens is not None else len(text)
        rest = b',"usage":%b,"output":[{"text":"%b"}],%b' % (said, text, tag)
        status = writer.random.choice((b"completed", b"completed", b"incomplete"))
        event.kind = status.decode()
        body = maker.response(status, rest)
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
        script.head_at = writer.at
        writer.send(answer.body[:-9])
    BREAK_ENDS[script.fault](writer)


STREAMED = (_dial, _break, _overflow, _failed, _error, _refusal, _json_error, _neither,
            _whole_result, _whole_failed)  # fmt: skip
STREAMED_WEIGHTS = (14, 40, 3, 22, 26, 20, 3, 3, 3, 3)
UNSTREAMED = (_dial, _whole_torn, _whole_failed, _refusal, _json_error, _neither)
UNSTREAMED_WEIGHTS = (10, 20, 12, 14, 4, 4)
