"""What goes out for a reply, read from real sockets: the bytes are the script's."""

from __future__ import annotations

import json

import pytest

from lab.harness import dechunked, head_and_rest, read_to_end, request, running


def test_the_bytes_of_an_answer_are_the_scripts() -> None:
    script = [{"events": [{"type": "response.output_text.delta", "delta": "é"}, {"comment": "hi"}]}]
    with running(script) as lab:
        assert lab.ask() == (
            b"HTTP/1.1 200 OK\r\n"
            b"content-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n"
            b"\r\n"
            b"5c\r\n"
            b"event: response.output_text.delta\n"
            b'data: {"type":"response.output_text.delta","delta":"\xc3\xa9"}\n\n'
            b"\r\n"
            b"6\r\n: hi\n\n\r\n"
            b"0\r\n\r\n"
        )


def test_crlf_ends_the_lines_of_events() -> None:
    with running([{"crlf": True, "events": [{"event": {"type": "x"}}, "done"]}]) as lab:
        body = dechunked(lab.ask())
    assert body == b'event: x\r\ndata: {"type":"x"}\r\n\r\ndata: [DONE]\r\n\r\n'


def test_raw_bytes_can_be_no_text() -> None:
    with running([{"events": [{"raw": {"base64": "/wA="}}]}]) as lab:
        assert dechunked(lab.ask()) == b"\xff\x00"


def test_length_framing_says_the_length() -> None:
    steps = [{"raw": "abc"}, {"raw": "de"}, {"end": "clean"}, {"raw": "never"}]
    with running([{"framing": "length", "events": steps}]) as lab:
        head, body = head_and_rest(lab.ask())
    assert b"content-length: 5" in head
    assert body == b"abcde"


@pytest.mark.parametrize("ending", [{"end": "cut"}, {"close": 1011}])
def test_length_framing_promises_more_than_a_cut_body_holds(ending: dict[str, object]) -> None:
    with running([{"framing": "length", "events": [{"raw": "abc"}, ending]}]) as lab:
        head, body = head_and_rest(lab.ask())
        assert lab.over().outcome == "cut"
    assert b"content-length: 4" in head
    assert body == b"abc"


def test_headers_replace_add_and_leave_out() -> None:
    headers = {"Content-Type": None, "x-request-id": "req_1", "set-cookie": ["a=1", "b=2"]}
    with running([{"headers": headers, "body": "x"}]) as lab:
        head, _ = head_and_rest(lab.ask())
    assert head.split(b"\r\n")[1:] == [
        b"content-length: 1",
        b"x-request-id: req_1",
        b"set-cookie: a=1",
        b"set-cookie: b=2",
    ]


def test_what_is_not_streamed_gets_the_last_response_as_one_body() -> None:
    script = [{"events": [{"created": "resp_1"}, {"say": "Good day"}, {"completed": {"input": 3}}]}]
    with running(script) as lab, lab.connect() as connection:
        connection.sendall(request(close=True, model="m"))
        head, body = head_and_rest(read_to_end(connection))
    response = json.loads(body)
    assert b"content-type: application/json" in head
    assert (response["id"], response["status"]) == ("resp_1", "completed")
    assert response["output"][0]["content"][0]["text"] == "Good day"
    assert response["usage"]["input_tokens"] == 3


@pytest.mark.parametrize(
    ("last", "status", "found"),
    [
        ({"failed": "server_error"}, b"200", b'"status":"failed"'),
        ({"error": "server_error"}, b"500", b'{"error":{'),
        ({"error": {"code": "slow_down", "status": 429}}, b"429", b'"code":"slow_down"'),
    ],
)
def test_failures_that_are_not_streamed(last: object, status: bytes, found: bytes) -> None:
    with running([{"events": ["created", last]}]) as lab, lab.connect() as connection:
        connection.sendall(request(close=True, model="m"))
        answer = read_to_end(connection)
    assert answer.split(b" ", 2)[1] == status
    assert found in answer


def test_a_bare_error_status_is_an_empty_answer() -> None:
    with running([{"status": 599}]) as lab:
        assert lab.ask() == (
            b"HTTP/1.1 599 Unnamed\r\n"
            b"content-type: text/plain; charset=utf-8\r\n"
            b"content-length: 0\r\n"
            b"\r\n"
        )
