"""A failure on the way to an upstream, as the log tells it."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from latchway.upstreams.faults import in_words


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (socket.gaierror(-2, "x"), "the upstream's name could not be resolved"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"),
         "the upstream refused the connection (ECONNREFUSED)"),
        (ConnectionResetError(errno.ECONNRESET, "x"),
         "the upstream reset the connection (ECONNRESET)"),
        (ConnectionResetError("x"), "the upstream reset the connection"),
        (BrokenPipeError(errno.EPIPE, "x"), "the upstream reset the connection (EPIPE)"),
        (TimeoutError(errno.ETIMEDOUT, "x"),
         "the connection to the upstream timed out (ETIMEDOUT)"),
        (OSError(errno.EHOSTUNREACH, "x"),
         "there is no connection to the upstream (EHOSTUNREACH)"),
        (OSError("Multiple exceptions: [...]"), "there is no connection to the upstream"),
        (ssl.SSLError(1, "x"), "TLS with the upstream failed"),
    ],
)  # fmt: skip
def test_a_fault_in_words(fault: Exception, words: str) -> None:
    assert in_words(fault) == words
