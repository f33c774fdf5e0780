"""One llama.cpp server in a process of its own, so that it can be killed: MODEL_FILE PORT.

It lives until its standard input ends, so none is left behind, however its parent died. It imports
nothing of latchway, so that it runs where llama.cpp alone is installed, too.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

CONTEXT_TOKENS = 2048
THREADS = 1
"""Two of them run beside a gateway, on machines with two cores."""


def main() -> None:
    """Serve on 127.0.0.1 until the parent is gone."""
    asked = _asked()
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = asked.model
    params.hostnames = ["127.0.0.1"]
    params.port = asked.port
    params.n_ctx = asked.context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.n_gpu_layers = 0
    if asked.chat_template:
        params.chat_template = asked.chat_template.read_text(encoding="utf-8")
    if asked.temperature is not None:
        params.sampling.temp = asked.temperature
    server = llama.Server(params)
    sys.stdin.read()
    del server


def _asked() -> argparse.Namespace:
    words = argparse.ArgumentParser(description="Serve a model until standard input ends.")
    words.add_argument("model")
    words.add_argument("port", type=int)
    words.add_argument("--context-tokens", type=int, default=CONTEXT_TOKENS)
    words.add_argument("--chat-template", type=Path, help="a file; else the model's own")
    words.add_argument("--temperature", type=float, help="of a request that has none of its own")
    return words.parse_args()


if __name__ == "__main__":
    main()
