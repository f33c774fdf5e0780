"""Several requests on one connection, several connections at once."""

from __future__ import annotations

import pytest

from lab.harness import read_to_end, read_until, request, running
from latchway.lab.connection import MAX_WAITING


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


def test_who_leaves_between_calls_leaves_the_last_one() -> None:
    with running([{"body": "done!"}]) as lab:
        with lab.connect() as connection:
            connection.sendall(request())
            read_until(connection, b"done!")
        call = lab.lab.calls[0]
        lab.until(lambda: call.left)
    assert (call.outcome, call.left) == ("clean", "closed")
    assert call.left_at is not None


def test_many_connections_play_at_once() -> None:
    with running([{"events": ["silence"]}, {"body": "free"}]) as lab, lab.connect() as stuck:
        stuck.sendall(request(stream=True))
        read_until(stuck, b"\r\n\r\n")
        assert lab.ask().endswith(b"free")


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


def test_too_many_waiting_requests_reset_the_connection() -> None:
    with running([{"events": ["silence"]}]) as lab, lab.connect() as connection:
        connection.sendall(request() * (MAX_WAITING + 2))
        with pytest.raises(ConnectionResetError):
            read_to_end(connection)
        assert len(lab.lab.calls) <= 1
