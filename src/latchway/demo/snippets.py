"""Lines to paste into a shell, ready with the address and the key of the demonstration."""

from __future__ import annotations

import json

CURL = """\
curl -N {url}/responses -H 'Authorization: Bearer {key}' \\
  -H 'Content-Type: application/json' -d '{body}'"""

OPENAI = """\
python3 - <<'END'
from openai import OpenAI
client = OpenAI(base_url="{url}", api_key="{key}")
for event in client.responses.create(model="{model}", input="{prompt}", stream=True):
    print(event.type, getattr(event, "delta", ""))
END"""

WEBSOCKETS = """\
python3 - <<'END'
import json
from websockets.sync.client import connect
headers = {{"Authorization": "Bearer {key}"}}
with connect("{ws_url}/responses", additional_headers=headers) as socket:
    turn = {{"type": "response.create", "model": "{model}", "input": "{prompt}"}}
    socket.send(json.dumps(turn))
    for message in socket:
        event = json.loads(message)
        print(event["type"], event.get("delta", ""))
        if event["type"] in ("response.completed", "response.failed", "error"):
            break
END"""

TITLES = {
    "with curl": CURL,
    "with the OpenAI SDK (pip install openai)": OPENAI,
    "over a WebSocket (pip install websockets)": WEBSOCKETS,
}


def ready_lines(url: str, key: str, model: str, prompt: str) -> dict[str, str]:
    """Title to text. `url` ends in /v1; `prompt` has no quotes."""
    values = {
        "url": url,
        "ws_url": url.replace("http", "ws", 1),
        "key": key,
        "model": model,
        "prompt": prompt,
        "body": json.dumps({"model": model, "input": prompt, "stream": True}),
    }
    return {title: text.format(**values) for title, text in TITLES.items()}
