"""Over plain sockets: the bytes are the script's, and so is the way in which they end."""

from __future__ import annotations

import json
import socket
import struct

import pytest

from lab.harness import data_of, dechunked, read_to_end, read_until, request, running, types_of


def head_and_rest(answer: bytes) -> tuple[bytes, bytes]:
    head, _, rest = answer.partition(b"\r\n\r\n")
    return head, rest


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


def test_the_last_reply_repeats() -> None:
    with running([{"status": 503}, {"status": 200, "body": "fine"}]) as lab:
        statuses = [lab.ask().split(b" ", 2)[1] for _ in range(3)]
        assert statuses == [b"503", b"200", b"200"]
        assert [call.reply for call in lab.lab.calls] == ["[0]", "[1]", "[1]"]


def test_a_connection_is_kept_for_the_next_call() -> None:
    with running([{"body": {"n": 1}}, {"body": {"n": 2}}]) as lab, lab.connect() as connection:
        for number in (1, 2):
            connection.sendall(request(model="m"))
            assert read_until(connection, b"}").endswith(b'\r\n\r\n{"n":%d}' % number)
        assert [call.connection for call in lab.lab.calls] == [1, 1]


def test_pipelined_requests_are_answered_in_order() -> None:
    with running([{"body": "a"}, {"body": "b"}]) as lab, lab.connect() as connection:
        connection.sendall(request() + request(close=True))
        answers = read_to_end(connection)
        assert [part[:1] for part in answers.split(b"\r\n\r\n")[1:]] == [b"a", b"b"]


@pytest.mark.parametrize("split", [1, 3, 7])
def test_split_cuts_the_payload_into_chunks(split: int) -> None:
    with running([{"split": split, "events": [{"raw": "0123456789é"}]}]) as lab:
        answer = lab.ask()
    assert dechunked(answer) == "0123456789é".encode()
    assert head_and_rest(answer)[1].startswith(b"%x\r\n%b\r\n" % (split, b"0123456789"[:split]))


def test_crlf_ends_the_lines_of_events() -> None:
    with running([{"crlf": True, "events": [{"event": {"type": "x"}}, "done"]}]) as lab:
        body = dechunked(lab.ask())
    assert body == b'event: x\r\ndata: {"type":"x"}\r\n\r\ndata: [DONE]\r\n\r\n'


def test_raw_bytes_can_be_no_text() -> None:
    with running([{"events": [{"raw": {"base64": "/wA="}}]}]) as lab:
        assert dechunked(lab.ask()) == b"\xff\x00"


def test_length_framing_says_the_length() -> None:
    with running([{"framing": "length", "events": [{"raw": "abc"}, {"raw": "de"}]}]) as lab:
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


def test_close_framing_ends_the_body_with_the_connection() -> None:
    with running([{"framing": "close", "body": "abc"}]) as lab, lab.connect() as connection:
        connection.sendall(request())
        head, body = head_and_rest(read_to_end(connection))
    assert b"connection: close" in head
    assert body == b"abc"


def test_a_cut_leaves_out_the_last_chunk() -> None:
    with running([{"events": [{"raw": "abc"}, {"end": "cut"}]}]) as lab:
        answer = lab.ask()
    with pytest.raises(EOFError, match="abc"):
        dechunked(answer)


def test_a_clean_end_needs_no_terminal_event() -> None:
    with running([{"events": [{"created": "resp_1"}, {"end": "clean"}, "reset"]}]) as lab:
        assert types_of(lab.ask()) == ["response.created"]


def test_a_reset_is_one() -> None:
    with running([{"events": [{"raw": "abc"}, "reset"]}]) as lab, lab.connect() as connection:
        connection.sendall(request())
        read_until(connection, b"abc\r\n")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        assert lab.over().outcome == "reset"
        assert lab.lab.calls[0].left is None


def test_without_a_head_there_is_nothing_but_a_reset() -> None:
    with running([{"no_head": True}]) as lab, pytest.raises(ConnectionResetError):
        lab.ask()


def test_without_a_head_the_steps_are_all_there_is() -> None:
    torn = {"no_head": True, "events": [{"raw": "HTTP/1.1 2"}, {"end": "cut"}]}
    with running([torn]) as lab:
        assert lab.ask() == b"HTTP/1.1 2"


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


def test_silence_lasts_until_the_other_side_leaves() -> None:
    with running([{"events": ["silence"]}]) as lab:
        with lab.connect() as connection:
            connection.sendall(request(stream=True))
            read_until(connection, b"\r\n\r\n")
        call = lab.over()
    assert (call.outcome, call.left) == ("left", "closed")


def test_a_wait_ends_when_the_other_side_resets() -> None:
    with running([{"events": [{"raw": "x"}, {"wait": 3600}]}]) as lab:
        with lab.connect() as connection:
            connection.sendall(request(stream=True))
            read_until(connection, b"1\r\nx\r\n")
            linger_zero = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_zero)
        call = lab.over()
    assert (call.outcome, call.left) == ("left", "reset")


def test_who_leaves_between_calls_leaves_the_last_one() -> None:
    with running([{"body": "done!"}]) as lab:
        with lab.connect() as connection:
            connection.sendall(request())
            read_until(connection, b"done!")
        call = lab.lab.calls[0]
        lab.until(lambda: call.left)
    assert (call.outcome, call.left) == ("clean", "closed")
    assert call.left_at is not None


def test_waits_are_waited() -> None:
    script = [
        {"head_delay": 0.02, "delay": 0.01, "events": [{"wait": 0.03}, "created", "keepalive"]}
    ]
    with running(script) as lab:
        lab.ask()
        call = lab.over()
    assert call.answered is not None
    assert call.over is not None
    assert call.answered - call.arrived >= 0.02
    assert call.over - call.answered >= 0.05


def test_a_call_is_remembered_whole() -> None:
    with running([{"body": {}}]) as lab:
        lab.ask(model="m", input="hello")
        call = lab.over()
    assert (call.method, call.path) == ("POST", "/v1/responses")
    assert call.headers["host"] == "lab"
    assert call.json == {"stream": True, "model": "m", "input": "hello"}
    assert str(call).startswith("#1 http POST /v1/responses: [0], 1 event, clean after 0.0")


def test_models_and_health_are_no_calls() -> None:
    with (
        running({"models": ["fast"], "calls": [{"status": 500}]}) as lab,
        lab.connect() as connection,
    ):
        connection.sendall(request("GET", "/v1/models"))
        models = json.loads(read_until(connection, b"]}").partition(b"\r\n\r\n")[2])
        connection.sendall(request("GET", "/health", close=True))
        assert read_to_end(connection).endswith(b'{"status":"ok"}')
        assert [model["id"] for model in models["data"]] == ["fast"]
        assert lab.lab.calls == []


def test_routes_are_chosen_by_model_and_by_input() -> None:
    script = {
        "routes": [
            {"when": {"model": "a", "input": "break"}, "calls": [{"body": "broken"}]},
            {"when": {"model": "a"}, "calls": [{"body": "first"}, {"body": "second"}]},
        ]
    }
    parts = [{"role": "user", "content": [{"type": "input_text", "text": "now break"}]}]
    with running(script) as lab:
        bodies = [
            head_and_rest(lab.ask(model="a", input=text))[1]
            for text in ("hi", parts, [{"role": "user", "content": "hi"}])
        ]
        stranger = lab.ask(model="b", input="hi")
    assert bodies == [b"first", b"broken", b"second"]
    assert stranger.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert b"model_not_found" in stranger


def test_many_connections_play_at_once() -> None:
    with running([{"events": ["silence"]}, {"body": "free"}]) as lab, lab.connect() as stuck:
        stuck.sendall(request(stream=True))
        read_until(stuck, b"\r\n\r\n")
        assert lab.ask().endswith(b"free")


def test_a_slow_reader_slows_the_script() -> None:
    many = {"repeat": {"times": 400, "events": [{"raw": "x" * 50_000}]}}
    with running([{"events": [many]}]) as lab, lab.connect() as connection:
        connection.sendall(request(close=True))
        read_until(connection, b"\r\n\r\n")
        lab.until(lambda: lab.lab.calls[0].events)
        assert lab.lab.calls[0].outcome is None
        rest = read_to_end(connection)
        assert lab.over().events == 400
    assert rest.count(b"x") == 400 * 50_000


@pytest.mark.parametrize(
    ("garbage", "status"),
    [
        (b"no http at all\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", b"431"),
    ],
)
def test_what_is_no_request_is_refused(garbage: bytes, status: bytes) -> None:
    with running([{"body": "x"}]) as lab, lab.connect() as connection:
        connection.sendall(garbage)
        assert connection.recv(4096).startswith(b"HTTP/1.1 " + status)
        assert lab.lab.calls == []


def test_stopping_resets_what_is_open() -> None:
    with running([{"events": ["silence"]}]) as lab:
        connection = lab.connect()
        connection.sendall(request(stream=True))
        read_until(connection, b"\r\n\r\n")
    with connection, pytest.raises(ConnectionResetError):
        connection.recv(1)


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


def test_echo_says_the_input_word_by_word() -> None:
    with running([{"echo": True}]) as lab:
        events = data_of(dechunked(lab.ask(input="one two  three")))
    deltas = [event["delta"] for event in events if "delta" in event]
    assert deltas == ["one", " two", "  three"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["response"]["usage"]["output_tokens"] == 3
