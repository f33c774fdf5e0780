"""Which header fields pass, in both directions, and what the timed ones say."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from latchway.upstreams.headers import (
    ANSWER_HEADERS,
    CLIENT_HEADERS,
    VALUE_CHARACTERS,
    answer_fields,
    keep_alive_seconds,
    request_fields,
    request_id,
    retry_after,
    sound,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("resp=1; a b", True),
        ("", True),
        ("x" * VALUE_CHARACTERS, True),
        ("x" * (VALUE_CHARACTERS + 1), False),
        ("a\r\nb: c", False),
        ("a\x00", False),
        ("a\tb", False),
        ("a\x7f", False),
        ("\u00e9", False),
        ("a\u2028b", False),
    ],
)
def test_a_sound_value_is_one_line_of_printable_ascii(value: str, expected: bool) -> None:
    assert sound(value) is expected


NEVER_UP = (
    "authorization", "api-key", "cookie", "host", "content-length", "transfer-encoding",
    "connection", "x-forwarded-for", "forwarded", "openai-organization", "openai-project",
    "accept-encoding", "expect", "te",
)  # fmt: skip


def test_a_client_can_name_no_credential_place_or_framing() -> None:
    asked = [(name, "mine") for name in (*NEVER_UP, *CLIENT_HEADERS)]
    fields = request_fields(host="h", streamed=True, length=3, client=asked)
    assert {name for name, value in fields if value == "mine"} == CLIENT_HEADERS
    assert len({name for name, _ in fields}) == len(fields)


@pytest.mark.parametrize("value", ["a\nb: c", "\u00e9"])
def test_a_client_s_value_that_is_not_sound_stays_behind(value: str) -> None:
    fields = request_fields(host="h", streamed=True, length=3, client=[("Traceparent", value)])
    assert "traceparent" not in dict(fields)


def test_what_reaches_the_client() -> None:
    came = dict.fromkeys((*ANSWER_HEADERS, "set-cookie", "openai-organization", "date"), "v")
    assert answer_fields(came) == tuple((name, "v") for name in ANSWER_HEADERS)
    assert answer_fields({"retry-after": "1\x01"}) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("req_1", "req_1"), ("", None), ("x" * 257, None), ("a\x1b[31m", None)],
)
def test_an_upstream_s_request_id_is_fit_for_a_log(value: str, expected: str | None) -> None:
    assert request_id({"x-request-id": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("timeout=5", 5.0),
        ("max=100, Timeout=2", 2.0),
        ("timeout=", None),
        ("timeout=-1", None),
        ("max=3", None),
        ("", None),
    ],
)
def test_how_long_a_server_keeps_a_connection(value: str, expected: float | None) -> None:
    assert keep_alive_seconds({"keep-alive": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        ("9" * 400, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("\u0667", None),
    ],
)
def test_when_to_come_again(value: str, expected: float | None) -> None:
    assert retry_after({"retry-after": value}) == expected


def test_when_to_come_again_as_a_date() -> None:
    wait = retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert wait is not None
    assert 25 < wait <= 30
