"""Resets are real, a slow reader slows the script, and who leaves is noticed."""

from __future__ import annotations

import socket
import struct

import pytest

from lab.harness import read_to_end, read_until, request, running


def test_a_reset_is_one() -> None:
    with running([{"events": [{"raw": "abc"}, "reset"]}]) as lab, lab.connect() as connection:
        connection.sendall(request())
        read_until(connection, b"abc\r\n")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        assert lab.over().outcome == "reset"
        assert lab.lab.calls[0].left is None


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
