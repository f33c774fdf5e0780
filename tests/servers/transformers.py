"""`transformers serve`, with a model made on the spot."""

from __future__ import annotations

import subprocess
from pathlib import Path

from servers.asks import BARE_FIELDS, OMITTED
from servers.expected import BEGUN, refused
from servers.server import Server

HERE = Path(__file__).resolve().parent
MAKER = HERE / "programs" / "tiny_model.py"
TEXT = HERE.parents[1] / "LICENSE"

SNIPPET = """\
providers:
  transformers: {base_url: "http://127.0.0.1:8000/v1"}
models:
  tiny:                             # as in `transformers serve tiny`
    price: {input: 0.10, output: 0.40}
    context_tokens: 8192
    max_output_tokens: 512
    routes:
      - provider: transformers
        store_default: false        # it keeps no response, so that every turn may be replayed
        drop_fields: [client_metadata]     # Codex sends it; what it does not know it refuses
        idle_timeout_seconds: 600   # it is silent from its first events to the prompt's end
"""


def make_model(python: str, folder: Path) -> None:
    """In the folder `tiny`."""
    words = [python, str(MAKER), str(TEXT), "tiny"]
    subprocess.run(words, cwd=folder, capture_output=True, check=True)


TRANSFORMERS = Server(
    name="transformers serve",
    pins=("transformers", HERE),
    distributions=("transformers", "torch"),
    prepare=make_model,
    command=lambda python, port: [
        str(Path(python).with_name("transformers")),
        *("serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "tiny"),
    ],
    start_seconds=120.0,
    snippet=SNIPPET,
    manners=(
        "no `event:` lines",
        "the first status is `queued`",
        "`created_at` is no whole number",
        "a response that was cut at its last token is `completed`",
    ),
    passages=10,
    speaks_first=True,
    bounded=False,
    differs={OMITTED: BEGUN, BARE_FIELDS: refused(422)},
)
