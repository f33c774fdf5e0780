"""A recording is a script that the lab reads, and in it is every byte, with its gap."""

from __future__ import annotations

import pytest

from latchway.lab.checked import parse
from latchway.lab.reading import parse_yaml
from latchway.lab.script import Close, End, Ping, Raw, Reply, Reset, Silence, Step, Wait
from latchway.lab.script import Ending as LabEnding
from latchway.upstreams.http1 import Head
from latchway.watch import recording as recordings
from latchway.watch.credential import Credential
from latchway.watch.recording import Ending, Recording

NOBODY = Credential(None)
CHUNKED = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


class Recorded:
    """A recording on a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.recording = Recording(lambda: self.now)

    def begin(self, headers: dict[str, str] | None = None, status: int = 200) -> None:
        self.recording.begin()
        if headers is not None:
            self.recording.head(Head(status, headers))

    def after(self, seconds: float, data: bytes, form: str = "raw") -> None:
        self.now += seconds
        self.recording.piece(data, form)

    def reply(self, credential: Credential = NOBODY) -> Reply:
        text = self.recording.script(credential)
        return parse(parse_yaml(text, "recorded"), "recorded").branches[0].replies[0]


TEXTS = [
    b"event: a\ndata: {}\n\n",
    b"\r\n\t: comment\r\r",
    b'data: {"text": "\\u2028 \\n"}\n\n',
    "data: ünïcödé 😀\n\n".encode(),
    "data: \u2028 \ufeff \x85 \x7f\n\n".encode(),
    b"\x00\x01\xff\xfe",
    b"data: yes: no # - {}\n\n",
    b" ",
    b"",
    bytes(range(256)),
]


@pytest.mark.parametrize("data", TEXTS)
def test_every_byte_comes_back(data: bytes) -> None:
    here = Recorded()
    here.begin(CHUNKED)
    here.after(0.0, data)
    here.recording.end(Ending.CLEAN)

    assert here.reply().steps == (Raw(data),)


def test_gaps_are_waits_and_none_is_lost() -> None:
    here = Recorded()
    here.begin()
    for data in (b"a", b"b", b"c", b"d"):
        here.after(0.0006, data)
    here.after(1.5, b"e")
    steps = here.reply().steps

    waits = [step.seconds for step in steps if isinstance(step, Wait)]
    assert sum(waits) == pytest.approx(0.0024 + 1.5, abs=0.001)
    assert steps[-2:] == (Wait(waits[-1]), Raw(b"e"))
    assert waits[-1] == pytest.approx(1.5, abs=0.001)


def test_a_head_keeps_what_a_client_reads() -> None:
    here = Recorded()
    here.recording.begin()
    here.now += 0.25
    headers = {"retry-after": "2", "set-cookie": "a=b", "openai-organization": "o"}
    here.recording.head(Head(503, {"content-length": "4", **headers}))
    here.after(0.0, b"Busy")
    here.recording.end(Ending.CLEAN)
    reply = here.reply()

    assert (reply.status, reply.framing and reply.framing.value) == (503, "length")
    assert reply.head_delay == 0.25
    assert reply.headers == (("content-type", None), ("retry-after", "2"))


@pytest.mark.parametrize(
    ("headers", "framing"),
    [(CHUNKED, "chunked"), ({"content-length": "0"}, "length"), ({}, "close")],
)
def test_the_framing_is_kept(headers: dict[str, str], framing: str) -> None:
    here = Recorded()
    here.begin(headers)
    here.recording.end(Ending.CLEAN)
    reply = here.reply()

    assert reply.framing is not None
    assert (reply.framing.value, reply.steps) == (framing, ())


ENDS: list[tuple[Ending, tuple[Step, ...]]] = [
    (Ending.CLEAN, (Wait(0.5),)),
    (Ending.CUT, (Wait(0.5), End(LabEnding.CUT))),
    (Ending.RESET, (Wait(0.5), Reset())),
    (Ending.SILENCE, (Silence(),)),
]


@pytest.mark.parametrize(("how", "steps"), ENDS)
def test_the_end_is_played_as_it_was(how: Ending, steps: tuple[Step, ...]) -> None:
    here = Recorded()
    here.begin(CHUNKED)
    here.now += 0.5
    here.recording.end(how)
    here.recording.end(Ending.CUT)

    assert here.reply().steps == steps


def test_a_break_before_the_status_line_has_none() -> None:
    here = Recorded()
    here.begin()
    here.recording.end(Ending.RESET)
    reply = here.reply()

    assert not reply.head
    assert reply.steps == (Reset(),)


def test_a_sockets_frames_are_steps() -> None:
    here = Recorded()
    here.begin()
    here.after(0.0, b"{}")
    here.after(0.0, b"\xff", "binary")
    here.after(0.0, b"p", "ping")
    here.recording.close(1011, 'of "these"')

    assert here.reply().steps == (
        Raw(b"{}"), Raw(b"\xff", binary=True), Ping(b"p"), Close(1011, 'of "these"'),
    )  # fmt: skip
    assert here.reply().head


SECRET = "sk-0123456789"


def test_the_credential_is_blotted_out_wherever_it_came_back() -> None:
    here = Recorded()
    here.begin({"x-request-id": SECRET})
    here.after(0.0, b"<sk-0123")
    here.after(0.0, b"456789>")
    here.recording.close(1000, SECRET)
    reply = here.reply(Credential(SECRET))

    assert SECRET not in here.recording.script(Credential(SECRET))
    assert reply.steps[:2] == (Raw(b"<" + b"*" * 7), Raw(b"*" * 6 + b">"))
    assert reply.steps[2] == Close(1000, "*" * len(SECRET))


def test_without_a_connection_there_is_nothing_to_play() -> None:
    here = Recorded()
    here.recording.end(Ending.RESET)
    assert here.recording.empty
    here.begin()
    assert not here.recording.empty


@pytest.mark.parametrize(
    ("limit", "most"), [("MOST_BYTES", 3 * recordings.STEP_BYTES), ("MOST_STEPS", 2)]
)
def test_what_is_too_much_for_the_lab_is_cut(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(recordings, limit, most)
    here = Recorded()
    here.begin(CHUNKED)
    for _ in range(5):
        here.after(0.0, b"x" * 8)
    here.recording.end(Ending.CLEAN)

    assert here.recording.cut_short
    assert here.reply().steps == (Raw(b"x" * 8), Raw(b"x" * 8), End(LabEnding.CUT))
    assert "# There was more" in here.recording.script(NOBODY)
