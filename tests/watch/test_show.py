"""What is watched, for people and for programs; the credential is in neither."""

from __future__ import annotations

import io
import json

import pytest

from harness.upstreams import answer, completed, created, event, text
from latchway.turn import events as on
from latchway.watch.address import address_of
from latchway.watch.asking import asking, in_words
from latchway.watch.credential import Credential
from latchway.watch.seen import Report
from latchway.watch.show import COLUMNS, Json, Lines, Show, Text
from latchway.wire.frame import Usage
from watch.made import Watching, asked

SECRET = "sk-0123456789"


def shown(
    kind: type[Text] | type[Json], *heard: on.UpstreamEvent, secret: str | None = None
) -> str:
    """What is written of a turn of which these events were heard, a second after each other."""
    out, here = io.StringIO(), Watching()
    show: Show = kind(Lines(out, Credential(secret)))
    show.begin(address_of("http://127.0.0.1:9/v1"), asked())
    for each in heard:
        here.now += 1.0
        here.watcher.hear(each)
    for told in here.told:
        show.tell(told)
    show.end(here.watcher.finish())
    return out.getvalue()


def arrived(*frames: object) -> on.Arrived:
    return on.Arrived(1, frames)  # type: ignore[arg-type]


GOOD = (
    on.Connected(1), on.Sent(1), on.Headed(1, 200, "req_9"), arrived(created()),
    arrived(text("Hi", 1), completed()),
)  # fmt: skip

LINES = [
    "http://127.0.0.1:9/v1/responses, model m, 54 bytes sent",
    "    4.000    +4.000     0  response.created                                129"
    "  lifecycle  held",
    "    5.000    +1.000     1  response.output_text.delta                       70"
    "  output     passes",
    "ended          completed",
    "status         200, no content type",
    "on the way     connected 1.000 s, sent 2.000 s, status line 3.000 s",
    "first event    4.000 s",
    "first output   5.000 s",
    "end            5.000 s, the last event 5.000 s",
    "                    1  response.created, 129 bytes",
    "usage          10 tokens in, 5 out",
    "response id    resp_1",
    "request id     req_9",
    "latchway       nothing failed that it would decide about",
]


@pytest.mark.parametrize("line", LINES)
def test_the_text_has_a_line_for_it(line: str) -> None:
    assert line in shown(Text, *GOOD).splitlines()


@pytest.mark.parametrize(
    ("heard", "lines"),
    [
        (
            (on.Broke(1, "it was reset"),),
            ["ended          failed: read_error, it was reset", "status         none came",
             "on the way     no connection", "first output   never", "usage          none came",
             "latchway       replay (R2.2): nobody can notice: the turn is replayed on another"
             " route"],
        ),
        (
            (on.Headed(1, 503), on.Answered(1, answer(503, {"error": {"message": "Busy."}}))),
            ["ended          failed: retryable_event, upstream_error (Busy.)"],
        ),
        ((on.Headed(1, 101),), ["status         101, a WebSocket is open",
                                "ended          you stopped it before its end"]),
        ((on.Commented(1),), ["    1.000  -- a comment, or a block without data"]),
    ],
)  # fmt: skip
def test_a_failure_is_told(heard: tuple[on.UpstreamEvent, ...], lines: list[str]) -> None:
    said = shown(Text, *heard).splitlines()

    assert [line for line in lines if line not in said] == []


def test_no_line_is_wider_than_the_page() -> None:
    long = event("response." + "x" * 200, message="m")
    said = shown(Text, arrived(long), on.Broke(1, "a reason " * 40))

    assert max(map(len, said.splitlines())) <= COLUMNS
    assert "x…" in said


def test_counts_that_are_not_zero_are_named() -> None:
    out = io.StringIO()
    report = Report(usage=Usage(10, 5, cached_tokens=3, reasoning_tokens=2), behind=7)
    Text(Lines(out, Credential(None))).end(report)

    assert "10 tokens in, 5 out, 3 of them cached, 2 of them reasoning" in out.getvalue()
    assert "behind the end 7 bytes" in out.getvalue()


def test_what_an_upstream_says_cannot_steer_a_terminal() -> None:
    assert "\x1b" not in shown(Text, arrived(event("\x1b[2J")))


def test_a_turn_that_is_not_streamed_says_so() -> None:
    out = io.StringIO()
    body = in_words("m", "hi")[:-1] + b',"stream":false}'
    whole = asking(body, model=None, websocket=False, silence=None)
    Text(Lines(out, Credential(None))).begin(address_of("http://h/v1"), whole)

    assert "model m, not streamed" in out.getvalue()


def test_json_is_a_line_for_each_event_and_one_for_the_end() -> None:
    lines = [json.loads(line) for line in shown(Json, *GOOD).splitlines()]

    assert lines[0] == {
        "at": 4.0, "gap": 4.0, "type": "response.created", "sequence_number": 0,
        "bytes": len(created().data), "class": "lifecycle", "held": True, "fate": "held",
    }  # fmt: skip
    assert [line["held"] for line in lines[:3]] == [True, False, False]
    end = lines[3]["end"]
    assert (end["outcome"], end["status"], end["first_output"]) == ("completed", 200, 5.0)
    assert end["events"] == {
        "response.created": 1, "response.output_text.delta": 1, "response.completed": 1,
    }  # fmt: skip
    assert end["usage"]["input_tokens"] == 10
    assert json.loads(shown(Json, on.Commented(1)).splitlines()[0])["note"]


@pytest.mark.parametrize("kind", [Text, Json])
def test_a_credential_that_comes_back_is_not_shown(kind: type[Text] | type[Json]) -> None:
    """Nor half of it, where a text is cut or wrapped."""
    message = f"{'x' * 395} {SECRET}"
    said = shown(
        kind,
        on.Headed(1, 401, SECRET),
        arrived(event(f"{'x' * 36}{SECRET}")),
        on.Answered(1, answer(401, {"error": {"message": message, "code": SECRET}})),
        secret=SECRET,
    )

    assert "sk-0" not in said
    assert "(credential)" in said


def test_no_line_at_all_has_the_credential() -> None:
    out = io.StringIO()
    Lines(out, Credential(SECRET)).say(f"http://h/v1/responses?key={SECRET}")

    assert out.getvalue() == "http://h/v1/responses?key=(credential)\n"
