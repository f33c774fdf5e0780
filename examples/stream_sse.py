"""Stream one turn over SSE with the OpenAI SDK: python stream_sse.py MODEL INPUT"""

import os
import sys

from openai import OpenAI

QUIET = ("response.created", "response.in_progress", "response.queued")
QUIET += ("keepalive", "ping", "codex.keepalive", "codex.rate_limits")


def stream(url: str, key: str, request: dict) -> str:
    """Print text as it comes; "completed", or why it is incomplete. Else RuntimeError."""
    saw_output, problem = False, "the stream ended without response.completed"
    try:
        with (
            OpenAI(base_url=url, api_key=key, max_retries=0, timeout=30.0) as client,
            client.responses.create(stream=True, store=False, extra_body=request) as events,
        ):
            for event in events:
                kind = getattr(event, "type", "")
                if kind in ("response.completed", "response.incomplete"):
                    details = event.response.incomplete_details
                    return f"incomplete: {details.reason}" if details else kind[9:]
                if kind in ("response.failed", "error"):
                    problem = event.to_json(indent=None, warnings=False)
                    break
                saw_output = saw_output or kind not in QUIET  # a tool call is output, too
                if kind == "response.output_text.delta":
                    print(event.delta, end="", flush=True)
    except Exception as error:  # the SDK's, or its HTTP library's: httpx, or httpx2 since 3.0
        problem = f"{type(error).__name__} {getattr(error, 'body', None) or error}"
    raise RuntimeError(f"after_output={saw_output}: {problem[:300]}")


if __name__ == "__main__":
    url = os.environ.get("LATCHWAY_URL", "http://127.0.0.1:8787/v1")
    asked = {"model": sys.argv[1], "input": sys.argv[2]}
    print("\n" + stream(url, os.environ["LATCHWAY_KEY"], asked))
