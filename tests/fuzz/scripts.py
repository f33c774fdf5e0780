"""What an upstream says in one attempt, well or badly: every way of R2 that a stream can end in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fuzz.dice import Dice
from latchway.turn import events as on
from latchway.turn.events import UpstreamEvent
from latchway.wire import meaning
from latchway.wire.frame import Answer, Frame


class Step(NamedTuple):
    """`after`: seconds from the step before."""

    after: float
    event: UpstreamEvent


SOON = (0.0, 0.001, 0.01, 0.1)
LATE = (0.5, 1.5, 3.0, 5.0, 7.0)

RESPONSE = '{"type":"%s","response":{"id":"%s","object":"response","model":"m"%s}}'
USAGE = ',"usage":{"input_tokens":3,"output_tokens":2}'
OVERLOADED = ',"error":{"code":"server_is_overloaded","message":"x"}'
INVALID = ',"error":{"code":"invalid_prompt","message":"x"}'
OPENINGS = ("response.created", "response.in_progress", "response.queued", "ping")
ENDS = (
    (("response.completed", USAGE),),
    (("response.completed", USAGE),),
    (("response.completed", ""),),
    (("response.incomplete", USAGE),),
    (("response.failed", OVERLOADED),),
    (("response.failed", OVERLOADED + USAGE),),
    (("response.failed", INVALID),),
    (("error", OVERLOADED),),
    (("error", OVERLOADED), ("response.failed", OVERLOADED)),
    (("error", INVALID), ("response.failed", INVALID + USAGE)),
    (("error", OVERLOADED), ("response.output_text.delta", "")),
)
ERRORS = (401, 400, 404, 408, 413, 429, 500, 502, 503)
BODIES = (b"", b"<html>", b'{"error":{"code":"slow_down","message":"x"}}', b'{"error":"x"}')


def script(dice: Dice, attempt: int, response_id: str) -> Iterator[Step]:
    """The steps of an attempt. At least one; the last one ends it, or nothing does."""
    yield Step(dice.pick(SOON), on.Connected(attempt))
    yield Step(dice.pick(SOON), on.Sent(attempt))
    ending = dice.below(10)
    if ending < 2:
        yield Step(_pause(dice), _answer(dice, attempt))
        return
    yield Step(_pause(dice), on.Headed(attempt, 200))
    for names in _told(dice):
        frames = tuple(_frame(name, response_id) for name in names)
        yield Step(_pause(dice), on.Arrived(attempt, frames))
        if dice.chance(0.1):
            yield Step(_pause(dice), on.Commented(attempt))
    if ending < 4:
        oversized = dice.chance(0.3)
        last = on.Oversized(attempt) if oversized else on.Broke(attempt, "cut")
        yield Step(_pause(dice), last)
    elif ending < 9:
        for name, rest in dice.pick(ENDS):
            yield Step(_pause(dice), on.Arrived(attempt, (_frame(name, response_id, rest),)))
        yield Step(dice.pick(SOON), on.Broke(attempt, "the body ended"))


def _told(dice: Dice) -> Iterator[list[str]]:
    """Names of events, by reads: mostly an opening, and often output."""
    yield dice.some(OPENINGS, 2)
    if dice.chance(0.7):
        for _ in range(dice.few()):
            yield ["response.output_text.delta"] * (1 + dice.below(3))


def _answer(dice: Dice, attempt: int) -> UpstreamEvent:
    if dice.chance(0.3):
        return on.Broke(attempt, "refused")
    body = dice.pick(BODIES)
    return on.Answered(attempt, Answer(dice.pick(ERRORS), body, note=meaning.answer_note(body)))


def _frame(name: str, response_id: str, rest: str = "") -> Frame:
    if name == "error":
        data = '{"type":"error"' + rest.removesuffix(USAGE) + "}"
    else:
        data = RESPONSE % (name, response_id, rest)
    return meaning.frame(data.encode(), f"data: {data}\n\n".encode())


def _pause(dice: Dice) -> float:
    return dice.pick(LATE) if dice.chance(0.05) else dice.pick(SOON)
