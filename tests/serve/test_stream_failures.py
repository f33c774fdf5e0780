"""A failure's number and its advice over HTTP: what follows the events, what the headers say."""

from __future__ import annotations

import json

import pytest

from latchway.serve.stream import HttpClient
from latchway.turn import commands as do
from latchway.wire.frame import Answer
from latchway.wire.meaning import answer_note, frame


class Written:
    """A wire that keeps what it is given."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def abort(self) -> None:
        raise AssertionError("an answer that ends is not cut")


def client_on(wire: Written) -> HttpClient:
    return HttpClient(wire, "req_1", streamed=True, chunked=False, close=False)


def delivered(*datas: str) -> do.Deliver:
    blocks = [b"data: " + data.encode() + b"\n\n" for data in datas]
    frames = [frame(data.encode(), block) for data, block in zip(datas, blocks, strict=True)]
    return do.Deliver(tuple(frames), "none")


FOUR = '{"type":"response.output_text.delta","sequence_number":4,"delta":"x"}'
QUOTED = '{"type":"response.output_text.delta","delta":"\\"sequence_number\\":9"}'
LIMITS = '{"type":"codex.rate_limits"}'
BROKEN = "{oops"


@pytest.mark.parametrize(
    ("reads", "number"),
    [
        ([], 0),
        ([[FOUR]], 5),
        ([[FOUR, LIMITS]], 5),
        ([[FOUR], [LIMITS]], 5),
        ([[FOUR, BROKEN], [LIMITS, BROKEN]], 5),
        ([[FOUR], [QUOTED]], 5),
        ([[LIMITS], [BROKEN]], 0),
        ([['{"type":"response.x","sequence_number":"seven"}']], 0),
    ],
)
def test_a_failure_is_numbered_behind_the_last_number(reads: list[list[str]], number: int) -> None:
    wire = Written()
    client = client_on(wire)
    client.send_head(do.SendHead("none"))
    for read in reads:
        client.deliver(delivered(*read))
    client.fail(do.Fail("stream_read_error", "none", False))
    told = wire.data.rpartition(b"event: error\ndata: ")[2]
    assert json.loads(told)["sequence_number"] == number


UPSTREAM = (("x-codex-turn-state", "A"), ("retry-after", "9999"))


def test_early_headers_say_nothing_of_an_attempt_that_may_be_replayed() -> None:
    early, late = Written(), Written()
    for wire in (early, late):
        client = client_on(wire)
        client.upstream_headers(UPSTREAM)
        if wire is early:
            client.send_head(do.SendHead(None))
        client.deliver(delivered(FOUR))
    assert b"x-codex-turn-state" not in early.data
    assert b"\r\nx-codex-turn-state: A\r\n" in late.data
    assert b"retry-after" not in late.data


@pytest.mark.parametrize(
    ("code", "should_retry"),
    [("rate_limit_exceeded", b"true"), ("who_knows", b"true"), ("model_not_found", b"false"),
     ("invalid_api_key", b"false")],
)  # fmt: skip
def test_the_row_of_a_code_may_say_no_to_a_passed_answer(code: str, should_retry: bytes) -> None:
    body = json.dumps({"error": {"code": code, "message": "x"}}).encode()
    wire = Written()
    answer = Answer(403, body, "application/json", (), answer_note(body))
    client_on(wire).pass_answer(do.PassAnswer(answer, "refused; reason=no_route", retryable=True))
    assert b"\r\nx-should-retry: " + should_retry + b"\r\n" in wire.data
    assert wire.data.endswith(body)
