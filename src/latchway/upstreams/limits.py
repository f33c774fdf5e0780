"""What an upstream may cost us: each limit with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Fixed for a process; tests pass smaller ones."""

    head_bytes: int = 64 << 10
    """Header fields of one answer, interim answers and trailers included: servers cap their own at
    8 to 32 KiB, and a field that never ends must not fill the memory."""

    answer_bytes: int = 1 << 20
    """Body of an error answer. Errors are a few hundred bytes; what is longer is no message."""

    answer_seconds: float = 5.0
    """From the head of an error answer to the end of its body. The status decides already; a body
    that does not come must not turn a refusal into a timeout, which would forbid a replay."""

    drain_seconds: float = 1.0
    """From the result to the clean end of the body. A fresh connection costs less than waiting."""

    idle_seconds: float = 4.0
    """A kept connection without a request. Common servers close theirs after 5 s, and a request
    that crosses such a close is lost."""

    idle_margin_seconds: float = 1.0
    """Taken off a server's own `Keep-Alive: timeout=N`, for the same crossing."""

    idle_connections: int = 256
    """Kept for one origin. Each holds a socket of the process and of the server."""

    write_bytes: int = 256 << 10
    """Of a request in one write. What lies in the transport can no longer be held back when an
    early refusal comes."""

    lost_bytes: int = 16 << 20
    """Read from a socket that was lost while writing; above any kernel's receive buffer."""
