"""What a Python client saw of one turn, and the loop that reads jobs and prints it.

A job is a line of JSON: `mode`, `url` (with /v1), `key`, `request`, and `max_retries`. So is an
answer: the types of the events that the program was given, the text it collected, the response
ids, the exception's class, and the error's code and HTTP status.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Job = dict[str, Any]


class Seen:
    """Filled by a client's loop."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.text = ""
        self.ids: list[str] = []
        self.code: str | None = None
        self.status: int | None = None
        self.raised: str | None = None

    def event(self, event: dict[str, Any]) -> None:
        """An event, as plain values."""
        self.types.append(event["type"])
        if event["type"] == "response.output_text.delta":
            self.text += event["delta"]
        if event["type"] == "error":
            self.failure(event.get("error") or event, event.get("status"))
        if event.get("response"):
            self.response(event["response"])

    def response(self, response: dict[str, Any]) -> None:
        """A response object: its id, and why it failed if it did."""
        if response["id"] not in self.ids:
            self.ids.append(response["id"])
        if response.get("error"):
            self.failure(response["error"], None)

    def failure(self, error: dict[str, Any], status: int | None) -> None:
        self.code, self.status = error.get("code"), status

    def exception(self, error: Exception) -> None:
        """What an SDK raised."""
        self.raised = type(error).__name__
        self.code = getattr(error, "code", None) or self.code
        self.status = getattr(error, "status_code", None)


def work(run: Callable[[Job], Seen]) -> None:
    """Do every job of standard input, one after the other."""
    for line in sys.stdin:
        print(json.dumps(vars(run(json.loads(line)))), flush=True)
