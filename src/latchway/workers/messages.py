"""What a worker and its supervisor say to each other, and how it lies in bytes.

Both are the same program and trust each other; a message that cannot be read ends the link. A
message is a MessagePack array with its tag first. What was said in one round of a loop is one
packet: its length, then an array of messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from latchway.ledger.keys import KeyRow
from latchway.ports import Closing, Granted, Opening, Refused, Unavailable
from latchway.settings import Secret, Settings


class Message(msgspec.Struct, array_like=True, tag=True, gc=False):
    """`number`, where there is one, is what the answer will carry."""


# ---- a worker's


class Hello(Message):
    """It is there."""

    pid: int


class Ready(Message):
    """It listens."""


class Failed(Message):
    """It cannot serve, and ends."""

    reason: str


class Leaving(Message):
    """It was told to leave, by itself: it takes no new connections and drains."""


class Reserve(Message):
    number: int
    opening: Opening


class Replay(Message):
    number: int
    request_id: str
    route: str


class Close(Message):
    number: int
    closing: Closing


class Remember(Message):
    number: int
    owner: str
    route: str
    marks: tuple[bytes, ...]


class Undo(Message):
    """The ledger has granted what this turn had given up by then: a reservation, or its end."""

    request_id: str
    ended: bool


class Record(Message):
    record: dict[str, Any]


class Question(Message):
    """What only the supervisor can tell; `what` is a row of `desk.ANSWERS`."""

    number: int
    what: str
    about: str


class Family(Message):
    """A family of metrics and its samples: name, labels, value."""

    name: str
    help: str
    kind: str
    samples: list[tuple[str, dict[str, str], float]]


class Report(Message):
    """What a worker has counted since it began, and how each route fares there."""

    families: list[Family]
    routes: list[dict[str, Any]]


class Told(Message):
    """The supervisor's question is answered, its wish is done."""

    number: int


# ---- a supervisor's


class Welcome(Message):
    """What it is to serve. `failpoint`: what `LATCHWAY_FAILPOINT` said, with `serve --test`."""

    settings: Settings
    keys: list[KeyRow]
    failpoint: str


class Answer(Message):
    """The ledger's. None: granted; a text: why it is unavailable; two amounts: what was needed for
    a reservation, and what there was."""

    number: int
    outcome: str | tuple[int, int] | None


class Reply(Message):
    """To a question."""

    number: int
    value: Any


class Ask(Message):
    """To be told behind everything that was said before; behind a report, if that is wanted."""

    number: int
    report: bool


class KeyChange(Message):
    """To be told once it holds."""

    number: int
    row: KeyRow


class Drain(Message):
    """Take no new turns and leave. `hurry`: end those that run."""

    hurry: bool


FromWorker = (
    Hello | Ready | Failed | Leaving | Reserve | Replay | Close | Remember | Undo | Record
    | Question | Report | Told
)  # fmt: skip
FromSupervisor = Welcome | Answer | Reply | Ask | KeyChange | Drain

Outcome = Granted | Refused | Unavailable


def said(outcome: Outcome) -> str | tuple[int, int] | None:
    """An outcome as `Answer` carries it."""
    if isinstance(outcome, Refused):
        return outcome.needed, outcome.available
    return outcome.reason if isinstance(outcome, Unavailable) else None


def meant(outcome: str | tuple[int, int] | None) -> Outcome:
    """What `said` was given."""
    if isinstance(outcome, tuple):
        return Refused(*outcome)
    return Granted() if outcome is None else Unavailable(outcome)


# ---- bytes

LENGTH = struct.Struct(">I")
ARRAY = struct.Struct(">BI")
"""MessagePack's head of an array whose count has four bytes."""
ARRAY_32 = 0xDD


def _plain(value: object) -> str:
    """Of the settings: what MessagePack has no word for. It goes to a process of our own, over a
    socket that has no name; it is the one place beside `Secret.reveal`'s callers that shows one."""
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"a {type(value).__name__} is no part of a message")


def _made(kind: type, value: Any) -> Any:
    return kind(value)


_encoder = msgspec.msgpack.Encoder(enc_hook=_plain)

from_workers = msgspec.msgpack.Decoder(list[FromWorker], dec_hook=_made)
from_supervisor = msgspec.msgpack.Decoder(list[FromSupervisor], dec_hook=_made)


class Packet:
    """The messages of one round, encoded as they come: a fault is its sender's."""

    def __init__(self) -> None:
        self._count = 0
        self._body = bytearray()

    def add(self, message: Message) -> None:
        _encoder.encode_into(message, self._body, -1)
        self._count += 1

    def take(self) -> bytes:
        """Everything so far; the packet is empty afterwards."""
        head = ARRAY.pack(ARRAY_32, self._count)
        data = LENGTH.pack(len(head) + len(self._body)) + head + self._body
        self._count, self._body = 0, bytearray()
        return data


class Packets:
    """Finds packets in what comes, however it is cut."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[Any]) -> None:
        self._decoder = decoder
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that are now complete. msgspec.MsgspecError: these are none."""
        self._data += data
        at = 0
        while len(self._data) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._data, at)
            end = at + LENGTH.size + length
            if len(self._data) < end:
                break
            yield from self._decoder.decode(bytes(self._data[at + LENGTH.size : end]))
            at = end
        del self._data[:at]
