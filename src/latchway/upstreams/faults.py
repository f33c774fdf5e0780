"""What went wrong on the way to an upstream, in words for the log (never for programs)."""

from __future__ import annotations

import errno
import socket
import ssl

EARLY_END = "the upstream closed the connection before it answered"
TORN = "the upstream closed the connection before its answer was complete"

WORDS: tuple[tuple[type[Exception], str], ...] = (
    (socket.gaierror, "the upstream's name could not be resolved"),
    (ssl.SSLCertVerificationError, "the upstream's certificate was refused"),
    (ssl.SSLError, "TLS with the upstream failed"),
    (ConnectionRefusedError, "the upstream refused the connection"),
    (ConnectionResetError, "the upstream reset the connection"),
    (BrokenPipeError, "the upstream reset the connection"),
    (ConnectionAbortedError, "the connection to the upstream was aborted"),
    (TimeoutError, "the connection to the upstream timed out"),
    (OSError, "there is no connection to the upstream"),
)
"""The first class that fits names the fault."""


def in_words(fault: Exception) -> str:
    """One line. Of the fault's own text only what a system wrote, never what a peer sent."""
    words = next((words for kind, words in WORDS if isinstance(fault, kind)), "a fault")
    detail = _detail(fault)
    return f"{words} ({detail})" if detail else words


def _detail(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLError):  # only one that OpenSSL made says more
        return getattr(fault, "verify_message", None) or getattr(fault, "reason", None) or ""
    if isinstance(fault, OSError) and fault.errno is not None:
        return errno.errorcode.get(fault.errno, "")
    return ""
