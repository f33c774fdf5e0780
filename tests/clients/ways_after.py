"""Ways to fail after text was delivered: the client holds it, and nothing runs again (R2.4)."""

from __future__ import annotations

from clients.outcome import End, Kind
from clients.way import (
    BOTH,
    BROKE,
    BUSY,
    BUSY_EVENTS,
    FELL_SILENT,
    FIRST_CHARGE,
    REPLAYED,
    REREAD,
    SHORT,
    TEXT,
    Way,
    events,
    failed,
    half,
)

AFTER_OUTPUT = [
    Way(
        "failed-after-text",
        "R2.4",
        events(*TEXT, BUSY),
        half(End(Kind.FAILED, "server_is_overloaded"), "R2.4 output_delivered"),
        REPLAYED,
    ),
    Way(
        "failed-after-text-with-usage",
        "R2.4",
        events(*TEXT, {"failed": {"code": "server_error", "input": 10, "output": 5}}),
        half(End(Kind.FAILED, "server_error"), "R2.4 output_delivered", charge=FIRST_CHARGE),
        failed("server_error", "R2.10 usage_seen"),
    ),
    Way(
        "error-after-text",
        "R2.4",
        events(*TEXT, {"error": "server_error"}),
        half(End(Kind.ERROR, "server_error"), "R2.4 output_delivered"),
        REPLAYED,
    ),
    Way(
        "reset-after-text",
        "R2.4",
        events(*TEXT, {"wait": 0.05}, "reset"),
        half(BROKE, "R2.4 output_delivered"),
        REREAD,
    ),
    Way(
        "cut-after-text",
        "R2.4",
        events(*TEXT, {"end": "cut"}),
        half(BROKE, "R2.4 output_delivered"),
        REREAD,
    ),
    Way(
        "ends-after-text",
        "R2.16",
        events(*TEXT),
        half(BROKE, "R2.4 output_delivered"),
    ),
    Way(
        "silent-after-text",
        "R2.15",
        events(*TEXT, "silence"),
        half(FELL_SILENT, "R2.4 output_delivered"),
        route={"idle_timeout_seconds": SHORT},
    ),
    Way(
        "second-breaks-after-text",
        "R2.14",
        BUSY_EVENTS,
        half(BROKE, "R2.1 replay", "R2.4 output_delivered", calls=BOTH),
        second=events(*TEXT, {"wait": 0.05}, "reset"),
    ),
]
