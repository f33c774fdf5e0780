"""vLLM on a CPU, with the model made on the spot; it wants 3 GB of memory and as much of disk."""

from __future__ import annotations

from servers.asks import TOO_LONG, WEATHER_IN_PARIS
from servers.expected import Expected, refused
from servers.server import Server
from servers.transformers import HERE, make_model

SNIPPET = """\
providers:
  vllm: {base_url: "http://127.0.0.1:8000/v1"}
models:
  tiny:                             # as in --served-model-name tiny
    price: {input: 0.10, output: 0.40}
    context_tokens: 8192            # its --max-model-len
    max_output_tokens: 512
    routes:
      - provider: vllm
        store_default: false        # by the line below
        idle_timeout_seconds: 600   # it is silent from its first events to the prompt's end
turn: {store_when_omitted: false}   # what it is not told, it keeps, if it keeps anything
"""

OPTIONS = {
    "model": "tiny",
    "served-model-name": "tiny",
    "host": "127.0.0.1",
    "max-model-len": "8192",
    "max-num-seqs": "2",
    "dtype": "float32",
    "tool-call-parser": "hermes",
}

ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_RESPONSES_API_STORE": "1",
}
"""One GB of cache, no core of its own, and responses that can be asked for again."""


def command(python: str, port: int) -> list[str]:
    """The module, because what the distribution calls `vllm` does not start in this build."""
    said = [word for name, value in OPTIONS.items() for word in (f"--{name}", value)]
    flags = ["--enforce-eager", "--enable-auto-tool-choice", "--port", str(port)]
    return [python, "-m", "vllm.entrypoints.openai.api_server", *said, *flags]


VLLM = Server(
    name="vLLM",
    pins=("vllm", HERE),
    distributions=("vllm-cpu", "torch"),
    prepare=make_model,
    command=command,
    start_seconds=300.0,
    snippet=SNIPPET,
    manners=("`response.completed` of a response with status `incomplete`",),
    passages=20,
    speaks_first=True,
    cut=Expected("incomplete"),
    differs={TOO_LONG: refused(400)},
    keeps=True,
    environment=ENVIRONMENT,
    tool_input=WEATHER_IN_PARIS,
)
