"""A client's WebSocket, byte by byte: no bytes break the connection, and each create ends once.

Half of the inputs are read at once and again in pieces, which must come to the same; the other
half while time passes, answers stop being taken, keys are revoked and the gateway drains.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from fuzz import asked
from fuzz.dice import Dice
from fuzz.engine import Target, chosen
from fuzz.gateway import MAX_MESSAGE_BYTES, REQUEST_BYTES, ROW, Gateway

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
FIN, MASKED = 0x80, 0x80
CODES = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 1012)
"""With which the gateway may close of its own accord."""
TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")
NO_MASK = b"\0\0\0\0"
"""A mask that leaves the payload readable, for the damages to meet it."""

QUIET_SECONDS = 400.0
"""After which every turn has ended, and an idle peer that does not answer is gone."""

USUAL = b'{"type":"response.create","model":"m","store":false,"input":"hi"}'
MESSAGES = (
    USUAL, USUAL, USUAL, USUAL,
    b'{"type":"response.create","model":"m"}',
    b'{"type":"response.create","model":"m","store":true}',
    b'{"type":"response.create","model":"unknown"}',
    b'{"type":"response.create","model":"m","background":true}',
    b'{"type":"response.create","model":"m","stream_id":"lane"}',
    b'{"type":"response.create","model":"m","store":false,"previous_response_id":"resp_a"}',
    b'{"type":"response.create","model":"m","store":false,"previous_response_id":"resp_gone"}',
    b'{"type":"response.create","model":"m","store":false,"previous_response_id":"resp_x"}',
    b'{"type":"response.create","model":"m","input":"' + b"x" * REQUEST_BYTES + b'"}',
    b'{"type":"response.steer","previous_response_id":"resp_a","stream_id":"lane"}',
    b'{"type":"response.steer","previous_response_id":7,"stream_id":{}}',
    b'{"type":"response.processed"}', b'{"type":"response.cancel","stream_id":"lane"}',
    b'{"type":7}', b"{}", b"[]", b"null", b"hi", b"", b"{", b"\xff", b'{"type":"\\ud800"}',
    b" " * (MAX_MESSAGE_BYTES + 1),
)  # fmt: skip
CLOSES = (b"", b"\x03\xe8", b"\x03\xe9bye", b"\x03\xf0\xff", b"\x03", b"\x03\xed", b"\x0b\xb8x")


def make(dice: Dice) -> bytes:
    """Frames of a client: some messages, with pings between and within them."""
    sent = b""
    for _ in range(1 + dice.few()):
        kind = dice.below(20)
        if kind < 16:
            sent += _message(dice)
        elif kind < 18:
            sent += frame(dice, dice.pick((PING, PONG)), dice.junk(20))
        elif kind < 19:
            sent += frame(dice, dice.below(16), dice.pick(MESSAGES), fin=dice.chance(0.5))
    return sent + (frame(dice, CLOSE, dice.pick(CLOSES)) if dice.chance(0.2) else b"")


def _message(dice: Dice) -> bytes:
    data = dice.pick(MESSAGES)
    if dice.chance(0.1):
        data = b'{"type":"response.create",' + asked.make(dice)[1:]
    opcode = TEXT if dice.chance(0.95) else BINARY
    if dice.chance(0.6):
        return frame(dice, opcode, data)
    at = dice.below(len(data) + 1)
    between = frame(dice, PING, b"x") if dice.chance(0.5) else b""
    return (
        frame(dice, opcode, data[:at], fin=False)
        + between
        + frame(dice, CONTINUATION, data[at:])
    )  # fmt: skip


def frame(dice: Dice, opcode: int, payload: bytes, fin: bool = True) -> bytes:
    """One frame as a client sends it (RFC 6455 5.2); one in fifty with a bit that is not for it."""
    first = (FIN if fin else 0) | opcode | (dice.pick((0x10, 0x20, 0x40)) * dice.chance(0.02))
    size = len(payload)
    if size < 126:
        length = bytes((MASKED | size,))
    else:
        length = bytes((MASKED | 126,)) + size.to_bytes(2, "big")
    return bytes((first,)) + length + NO_MASK + payload


# ---- what the client said, by a reader that has all of it at once


class Said(NamedTuple):
    """The client's whole messages, as far as they could be read."""

    messages: list[bytes]
    broken: bool
    """It broke the protocol, or closed."""
    closed: bool
    """It sent a close frame."""


def client_said(data: bytes) -> Said:
    protocol = ServerProtocol(state=State.OPEN, max_size=MAX_MESSAGE_BYTES)
    protocol.receive_data(data)
    messages: list[bytes] = []
    parts, text, closed = b"", True, protocol.close_rcvd is not None
    for each in protocol.events_received():
        opcode = getattr(each, "opcode", None)
        if opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            continue
        text = opcode is Opcode.TEXT or (text and opcode is Opcode.CONT)
        parts += bytes(getattr(each, "data", b""))
        if getattr(each, "fin", False):
            if text and parts != parts.decode(errors="ignore").encode():
                return Said(messages, True, closed)
            messages.append(parts if text else b"binary")
            parts, text = b"", True
    return Said(messages, protocol.state is not State.OPEN, closed)


# ---- what the server said


class Heard(NamedTuple):
    """What the client got: the messages, and the code of the close frame if there was one."""

    messages: list[dict[str, Any]]
    code: int | None


def heard(gateway: Gateway) -> Heard:
    """Read what was written; every frame must be one that a server may send."""
    data = b"".join(written for written, _ in gateway.transport.written)
    messages: list[dict[str, Any]] = []
    code, at = None, 0
    while at < len(data):
        opcode, payload, at = _server_frame(data, at)
        assert code is None or opcode == PONG, "something follows the close frame"
        if opcode == TEXT:
            messages.append(_read_message(payload))
        elif opcode == CLOSE:
            code = int.from_bytes(payload[:2], "big")
            assert payload[2:].decode() is not None
        else:
            assert opcode in (PING, PONG)
            assert len(payload) <= 125
    return Heard(messages, code)


def _server_frame(data: bytes, at: int) -> tuple[int, bytes, int]:
    """Opcode, payload, and where the next frame begins."""
    assert data[at] & 0xF0 == FIN, "whole, and no bit of an extension"
    opcode, size = data[at] & 0x0F, data[at + 1]
    start = at + 2
    if size == 126:
        size, start = int.from_bytes(data[start : start + 2], "big"), start + 2
        assert size >= 126
    assert size <= 0xFFFF, "masked, or longer than anything that was said"
    payload = data[start : start + size]
    assert len(payload) == size
    return opcode, payload, start + size


def _read_message(payload: bytes) -> dict[str, Any]:
    message = json.loads(payload.decode())
    assert isinstance(message["type"], str)
    if message["type"] == "error":
        assert type(message["status"]) is int
        assert message["error"]["message"]
        assert message.pop("request_id").startswith("req_")
    return dict(message)


def _response_id(message: dict[str, Any]) -> str | None:
    response = message.get("response")
    return response["id"] if isinstance(response, dict) else None


# ---- what must hold


def check(data: bytes) -> None:
    dice = chosen(data)
    seed = dice.below(1 << 32)
    said = client_said(data)
    with _no_bug_of_ours():
        if dice.chance(0.5):
            _check_still(dice, data, seed, said)
        else:
            _check_lively(dice, data, seed, said)


def _check_still(dice: Dice, data: bytes, seed: int, said: Said) -> None:
    """All is read before time passes, whole and in pieces: the same answers, one each.

    What is said to a client that breaks off depends on how much came in the read that broke.
    """
    whole, pieces = Gateway(seed, minutes=60.0), Gateway(seed, minutes=60.0)
    whole.read(data)
    for piece in _cut(dice, data):
        pieces.read(piece)
    for gateway in (whole, pieces):
        gateway.clock.advance(QUIET_SECONDS)
        _check_all(gateway, said)
    if not said.broken:
        assert heard(whole) == heard(pieces)
        _check_answers(heard(whole).messages, said)


def _check_answers(messages: list[dict[str, Any]], said: Said) -> None:
    """One for each message, and none is said to be no JSON that is."""
    unanswered = sum(b"processed" in message for message in said.messages)
    answers = sum(_answers(message) for message in messages)
    assert len(said.messages) - unanswered <= answers <= len(said.messages)
    refused = sum(_code(message) == "invalid_json" for message in messages)
    assert refused <= sum(_may_be_no_json(message) for message in said.messages)


def _code(message: dict[str, Any]) -> Any:
    return message["error"].get("code") if message["type"] == "error" else None


def _may_be_no_json(message: bytes) -> bool:
    """Readers disagree on half a surrogate pair and on what is no number; those may be refused."""
    try:
        json.loads(message)
    except (ValueError, RecursionError):
        return True
    return any(odd in message for odd in (b"\\ud", b"NaN", b"Infinity"))


def _answers(message: dict[str, Any]) -> bool:
    return message["type"] in (*TERMINAL, "response.steer.failed")


def _check_lively(dice: Dice, data: bytes, seed: int, said: Said) -> None:
    gateway = Gateway(seed, minutes=1.0)
    for piece in _cut(dice, data):
        _happen(dice, gateway)
        if gateway.transport.unread and dice.chance(0.5):
            gateway.connection.resume_writing()
        gateway.read(piece)
    for _ in range(dice.below(8)):
        _happen(dice, gateway)
    _check_all(gateway, said)


def _happen(dice: Dice, gateway: Gateway) -> None:
    """One thing that is not a read."""
    kind = dice.below(20)
    if kind < 12:
        gateway.clock.advance(dice.pick((0.0, 0.001, 0.01, 0.1, 1.0, 3.0)))
    elif kind < 14:
        gateway.clock.advance(dice.pick((21.0, 45.0, 70.0)))
    elif gateway.transport.closing:
        return
    elif kind < 17:
        _slow_down(dice, gateway)
    elif kind == 17:
        gateway.keys.put(replace(ROW, revoked=True))
    elif kind == 18:
        gateway.app.draining = True
        gateway.app.drain()
    elif dice.chance(0.3):
        gateway.app.stop_turns()


def _slow_down(dice: Dice, gateway: Gateway) -> None:
    """The client stops taking bytes, or takes them again."""
    if gateway.transport.unsent:
        gateway.transport.unsent = 0
        gateway.connection.resume_writing()
    else:
        gateway.transport.unsent = 1 + dice.below(1 << 20)
        gateway.connection.pause_writing()


def _cut(dice: Dice, data: bytes) -> Sequence[bytes]:
    at = sorted(dice.below(len(data) + 1) for _ in range(1 + dice.few()))
    return [data[start:stop] for start, stop in pairwise([0, *at, len(data)])]


def _check_all(gateway: Gateway, said: Said) -> None:
    gateway.leave()
    messages, code = heard(gateway)
    _check_turns(messages, said)
    _check_close(gateway, code, said)
    _check_ended(gateway)


def _check_turns(messages: list[dict[str, Any]], said: Said) -> None:
    """One answer a message at most; the frames of a turn together, and nothing behind its end."""
    assert sum(_answers(message) for message in messages) <= len(said.messages)
    ids = [found for message in messages if (found := _response_id(message))]
    numbers = [int(each.removeprefix("resp_")) for each, _ in groupby(ids)]
    assert numbers == sorted(set(numbers)), "one response a turn, one turn after the other"
    for response_id in set(ids):
        types = [each["type"] for each in messages if _response_id(each) == response_id]
        assert not any(each in TERMINAL for each in types[:-1])


def _check_close(gateway: Gateway, code: int | None, said: Said) -> None:
    if code is None or said.closed:
        return
    assert code in CODES
    closes = [active for data, active in gateway.transport.written if data[:1] == b"\x88"]
    assert len(closes) == 1
    assert code not in (1000, 1001) or not closes[0], "a turn is active"


def _check_ended(gateway: Gateway) -> None:
    """Nothing is left: no turn, no call, no timer; every reservation is closed, every id logged."""
    assert not gateway.app.turns
    assert not gateway.app.sockets
    assert all(call.over for call in gateway.upstreams.calls)
    assert not gateway.clock.waiting
    assert set(gateway.ledger.closed.values()) <= {0, 1}
    assert gateway.ledger.reserved.keys() == gateway.ledger.closed.keys()
    assert set(gateway.log.ids.values()) <= {1}
    assert gateway.log.ids.keys() >= gateway.ledger.closed.keys()


class _Bugs(logging.Handler):
    """The driver survives a fault of ours and logs it; here it is a finding."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage()) from (record.exc_info or (None, None))[1]


@contextmanager
def _no_bug_of_ours() -> Iterator[None]:
    handler, log = _Bugs(logging.ERROR), logging.getLogger("latchway")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


TARGET = Target("websocket", make, check, inputs=12_000)
