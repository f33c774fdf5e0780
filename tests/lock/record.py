"""What a turn asks for, as lines of a recording: `port  what`.

A real client, upstream, ledger and log are seen to do the same; so the lines say what can be seen
there, and nothing of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from latchway.ledger.prices import format_usd
from latchway.ports import Closing
from latchway.turn import commands as do
from latchway.turn.commands import Command, Finish
from latchway.wire import errors
from latchway.wire.carried import carried
from latchway.wire.frame import Frame, Kind
from lock.said import label

PORT_COLUMNS = 9


def line(port: str, what: str) -> str:
    return f"{port:{PORT_COLUMNS}} {what}"


class Recorder:
    """Keeps of the client's side only whether the status line is still open."""

    def __init__(self, transport: str, streamed: bool) -> None:
        self.http = transport == "http"
        self.streamed = streamed
        self.open = self.http

    def lines(self, command: Command) -> list[str]:
        port, told = TOLD[type(command)]
        return [line(port, what) for what in told(self, command)]

    # ---- the client

    def head(self, command: do.SendHead) -> Iterator[str]:
        self.open = False
        yield f"200, early{_replay(command.replay)}"

    def comment(self, command: do.Comment) -> Iterator[str]:
        yield "comment"

    def deliver(self, command: do.Deliver) -> Iterator[str]:
        if self.open:
            self.open = False
            yield f"200{_replay(command.replay)}"
        for frame in command.frames:
            yield f"{label(frame)}{self._wrapped(frame, command.retryable)}"

    def _wrapped(self, frame: Frame, retryable: bool) -> str:
        """On a WebSocket an upstream's `error` gets what the gateway knows of it."""
        if self.http or frame.kind is not Kind.ERROR:
            return ""
        return _retryable(retryable)

    def answer(self, command: do.PassAnswer) -> Iterator[str]:
        answer = command.answer
        retryable = command.retryable and errors.may_be_sent_again(answer.note.code)
        yield (
            f"{answer.status} of the upstream, {answer.note.code or 'no code'}"
            f"{_retryable(retryable)}{_after(answer.note.retry_after)}"
            f"{_replay(command.replay)}"
        )

    def fail(self, command: do.Fail) -> Iterator[str]:
        status, error = _failure(command)
        told = f"{_retryable(error['retryable'])}{_after(error['retry_after'])}"
        if self.open:
            yield f"{status} {error['code']}{told}{_replay(command.replay)}"
        elif not self.http:
            yield f"error {status} {error['code']}{told}"
        else:
            yield f"error {error['code']}{told}"
            if command.response_id is not None:
                yield f"response.failed of {command.response_id}, {error['code']}"

    # ---- the others

    def select(self, command: do.SelectRoute) -> Iterator[str]:
        yield "select" if command.failed is None else f"select, not {command.failed}"

    def replay(self, command: do.RecordReplay) -> Iterator[str]:
        yield f"record the replay on {command.place.route}"

    def open_attempt(self, command: do.Open) -> Iterator[str]:
        yield f"open attempt {command.attempt} on {command.place.route}"

    def drop(self, command: do.Drop) -> Iterator[str]:
        yield f"drop attempt {command.attempt}"

    def release(self, command: do.Release) -> Iterator[str]:
        yield f"release attempt {command.attempt}"


def lacking(attempt: int, field: str) -> str:
    """What the request has that is sent, and this attempt's has not."""
    return line("upstream", f"ask attempt {attempt} without {field}")


def reserving(amount: int) -> str:
    return line("ledger", f"reserve {format_usd(amount)}")


def closing(told: Closing) -> str:
    """How the ledger is told to end a turn's money."""
    parts = [
        _bill(told),
        f"loss {format_usd(told.loss)} {told.loss_reason}" if told.loss else None,
        f"{told.response_id} was made on {told.route}" if told.response_id else None,
    ]
    return line("ledger", ", ".join(filter(None, parts)))


def logged(record: Mapping[str, Any], finish: Finish) -> list[str]:
    """The log's record of a turn, and what only the figures say of it."""
    absurd = [each.usage_absurd for each in finish.attempts]
    lines = [_attempt(each, *more) for each, *more in zip(record["attempts"], absurd, strict=True)]
    parts = [
        f"turn {record['outcome']}",
        record["code"],
        "replayed" if record["replayed"] else None,
        f"delivered {record['delivered']}",
        record["response_id"],
        finish.phase,
        f"held {finish.held_seconds:g}s" if finish.held_seconds else None,
        "released by timer" if finish.released_by_timer else None,
    ]
    return [line("log", what) for what in (*lines, ", ".join(filter(None, parts)))]


def _bill(told: Closing) -> str:
    if told.usage is None:
        return "refund"
    counted = {"upstream": "usage", "estimated": "estimate"}[told.basis]
    return (
        f"settle attempt {told.billed_attempt} at {format_usd(told.charge)},"
        f" {counted} {_usage(told.usage)}"
    )


def _attempt(record: Mapping[str, Any], absurd: bool) -> str:
    status = record["http_status"]
    parts = [
        f"attempt {record['number']} on {record['route']}: {record['outcome']}",
        record["failure"],
        record["code"],
        f"HTTP {status}" if status not in (None, 200) else None,
        f"usage {_usage(record['usage'])}" if record["usage"] else None,
        "absurd usage" if absurd else None,
        f"{record['rule']} {record['verdict']}" if record["verdict"] else None,
    ]
    return ", ".join(filter(None, parts))


def _failure(command: do.Fail) -> tuple[int, dict[str, Any]]:
    if command.answer is not None:
        return carried(command.answer, command.retryable)
    error = errors.error_object(
        command.code, retryable=command.retryable, retry_after=command.retry_after
    )
    return errors.status_of(command.code), error


def _usage(usage: Mapping[str, int]) -> str:
    return f"{usage['input_tokens']} in, {usage['output_tokens']} out"


def _retryable(yes: bool) -> str:
    return f", retryable: {'yes' if yes else 'no'}"


def _after(seconds: float | None) -> str:
    return "" if seconds is None else f", retry after {seconds:g}"


def _replay(value: str | None) -> str:
    return "" if value is None else f", replay: {value}"


TOLD: dict[type[Command], tuple[str, Callable[[Recorder, Any], Iterator[str]]]] = {
    do.SelectRoute: ("routes", Recorder.select),
    do.RecordReplay: ("ledger", Recorder.replay),
    do.Open: ("upstream", Recorder.open_attempt),
    do.Drop: ("upstream", Recorder.drop),
    do.Release: ("upstream", Recorder.release),
    do.SendHead: ("client", Recorder.head),
    do.Comment: ("client", Recorder.comment),
    do.Deliver: ("client", Recorder.deliver),
    do.PassAnswer: ("client", Recorder.answer),
    do.Fail: ("client", Recorder.fail),
}
