"""The process's own log: one line of JSON an event, on standard error.

Whatever stands in a message, a line stays one line: all control characters are escaped.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

MESSAGE_CHARACTERS = 4096
FAULT_CHARACTERS = 16384
"""Of a traceback; its end, which names the fault, is what is kept."""

CHATTY = ("asyncio", "websockets")
"""Libraries that tell of every connection, which the request log does, at level INFO."""


class JsonLines(logging.Formatter):
    """A record as one line of ASCII JSON: at, level, logger, message, and a fault's traceback."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:MESSAGE_CHARACTERS],
        }
        if record.exc_info:
            line["fault"] = self.formatException(record.exc_info)[-FAULT_CHARACTERS:]
        return json.dumps(line)


def set_up() -> None:
    """Send the log of the whole process to standard error, from level INFO on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)
