"""Stream one turn over a WebSocket with `websockets`: python stream_websocket.py MODEL INPUT"""

import json
import os
import sys

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

QUIET = ("response.created", "response.in_progress", "response.queued")
QUIET += ("keepalive", "ping", "codex.keepalive", "codex.rate_limits")


def stream(url: str, key: str, request: dict) -> str:
    """Print text as it comes; "completed", or why it is incomplete. Else RuntimeError."""
    saw_output, headers = False, {"Authorization": f"Bearer {key}"}
    url = url.replace("http", "ws", 1) + "/responses"
    try:
        with connect(url, additional_headers=headers, open_timeout=30.0, max_size=None) as socket:
            socket.send(json.dumps({"type": "response.create", "store": False, **request}))
            while True:  # an early close raises, with code 1000 too
                problem = socket.recv(timeout=330.0)
                event = json.loads(problem)
                kind = event.get("type", "")
                if kind in ("response.completed", "response.incomplete"):
                    details = event["response"].get("incomplete_details")
                    return f"incomplete: {details.get('reason')}" if details else kind[9:]
                if kind in ("response.failed", "error"):
                    break
                saw_output = saw_output or kind not in QUIET  # a tool call is output, too
                if kind == "response.output_text.delta":
                    print(event["delta"], end="", flush=True)
    except (WebSocketException, OSError, ValueError) as error:
        problem = f"{type(error).__name__} {error}"
    raise RuntimeError(f"after_output={saw_output}: {problem[:300]}")


if __name__ == "__main__":
    url = os.environ.get("LATCHWAY_URL", "http://127.0.0.1:8787/v1")
    asked = {"model": sys.argv[1], "input": sys.argv[2]}
    print("\n" + stream(url, os.environ["LATCHWAY_KEY"], asked))
