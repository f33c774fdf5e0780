"""curl, as a person runs it at a shell; what it printed is read here.

The one argument is the path of curl.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from seen import Job, Seen, work

SECONDS = "30"


def run(job: Job) -> Seen:
    """One turn."""
    streamed = job["mode"] == "stream"
    request = {**job["request"], **({"stream": True} if streamed else {})}
    done = subprocess.run(
        [
            *(sys.argv[1], "--no-buffer", "--silent", "--show-error", "--max-time", SECONDS),
            *("--write-out", "\n%{http_code}", f"{job['url']}/responses"),
            *("-H", f"Authorization: Bearer {job['key']}", "-H", "Content-Type: application/json"),
            *("--data", json.dumps(request)),
        ],
        capture_output=True,
        text=True,
    )
    seen = Seen()
    body, _, status = done.stdout.rpartition("\n")
    if done.returncode != 0:
        seen.raised = done.stderr.strip()
    elif status == "200" and streamed:
        note_events(seen, body)
    else:
        note_body(seen, json.loads(body))
    seen.status = int(status)
    return seen


def note_events(seen: Seen, body: str) -> None:
    """Each block is an event or a comment; both lines of an event name the same type."""
    for block in body.split("\n\n"):
        if block and not block.startswith(":"):
            name, data = block.strip("\n").split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert name == f"event: {event['type']}", block
            seen.event(event)


def note_body(seen: Seen, body: dict[str, Any]) -> None:
    if body.get("object") != "response":
        seen.failure(body["error"], None)
        return
    seen.response(body)
    seen.types.append(body["status"])
    parts = [part for item in body["output"] for part in item["content"]]
    seen.text = "".join(part["text"] for part in parts)


if __name__ == "__main__":
    work(run)
