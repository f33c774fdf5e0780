"""What is known of one run, and a line of JSON each."""

from __future__ import annotations

import msgspec


class Times(msgspec.Struct, frozen=True):
    """Microseconds of so many samples."""

    count: int
    p50: float
    p99: float


class Counted(msgspec.Struct, frozen=True):
    """What the load generator tells (see load.c)."""

    seconds: float
    turns: int
    events: int
    failed: int
    first: Times
    latency: Times


class Used(msgspec.Struct, frozen=True):
    """What was used meanwhile: CPU in seconds."""

    subject: float
    load: float
    """By the generator and the upstream together."""
    machine: float
    """By all processes of the machine."""
    stolen: float
    """By other machines of the same host."""


class Held(msgspec.Struct, frozen=True):
    """The subject's memory, in KiB; nothing where there is no subject."""

    rest: int
    """Before the load (PSS)."""
    load: int
    """When all connections were open (PSS); 0 where it was not looked at."""
    peak: int
    """The most in its life (RSS)."""


class Run(msgspec.Struct, frozen=True):
    """One subject under one workload, once."""

    number: int
    """Of the pass."""
    workload: str
    transport: str
    subject: str
    connections: int
    counted: Counted
    used: Used
    held: Held


def line(run: Run) -> bytes:
    """It, as it is kept."""
    return msgspec.json.encode(run) + b"\n"
