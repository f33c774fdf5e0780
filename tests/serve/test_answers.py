"""Heads and bodies of answers, byte for byte."""

from __future__ import annotations

import pytest

from harness.upstreams import event, text
from latchway.serve import answers
from latchway.wire.frame import Kind, Run


def test_a_whole_answer() -> None:
    assert answers.whole(200, b"{}", [("x-a", "1")], close=False) == (
        b"HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 2\r\n\r\n{}"
    )


def test_the_last_answer_of_a_connection_says_so() -> None:
    assert b"\r\nconnection: close\r\n\r\n" in answers.whole(200, b"", [], close=True)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (404, b"404 Not Found"),
        (413, b"413 Content Too Large"),
        (422, b"422 Unprocessable Content"),
        (529, b"529 Status"),
    ],
)
def test_every_status_has_a_phrase(status: int, line: bytes) -> None:
    assert answers.head(status, []).startswith(b"HTTP/1.1 " + line + b"\r\n")


@pytest.mark.parametrize(
    ("seconds", "header"),
    [(None, None), (0.0, "0"), (0.2, "1"), (7.0, "7"), (7.5, "8"), (3600.0, "60"), (-1.0, None),
     (float("nan"), None), (float("inf"), None)],
)  # fmt: skip
def test_a_wait_is_in_whole_seconds_and_at_most_a_minute(
    seconds: float | None, header: str | None
) -> None:
    assert dict(answers.error_headers("req_1", True, seconds)).get("retry-after") == header


@pytest.mark.parametrize("retryable", [True, False])
def test_every_error_says_whether_to_send_it_again(retryable: bool) -> None:
    headers = dict(answers.error_headers("req_1", retryable, None))
    assert headers == {
        "content-type": "application/json",
        "x-request-id": "req_1",
        "x-should-retry": "true" if retryable else "false",
    }


@pytest.mark.parametrize(
    ("data", "number"),
    [(None, 0), (b'{"sequence_number":4}', 5), (b"{}", 0), (b'{"sequence_number":"4"}', 0),
     (b"no json", 0), (b'{"sequence_number":null}', 0), (b'{"sequence_number":0}', 1)],
)  # fmt: skip
def test_the_number_that_follows(data: bytes | None, number: int) -> None:
    assert answers.sequence_after(data) == number


def test_the_last_event_that_has_a_number() -> None:
    ping, first, second = event("ping"), text(number=1), text(number=2)
    assert answers.last_numbered([first, second, ping]) == second.data
    assert answers.last_numbered([first]) == first.data
    assert answers.last_numbered([ping]) is None


def test_the_last_event_of_a_run_that_has_a_number() -> None:
    run = Run(Kind.OUTPUT, b"{}", b"", each=(text(number=1).data, text(number=2).data, b"{}"))
    assert answers.last_numbered([run, event("ping")]) == text(number=2).data
