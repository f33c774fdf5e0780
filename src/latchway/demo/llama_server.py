"""One llama.cpp server in a process of its own, so that it can be killed: MODEL_FILE PORT.

It lives until its standard input ends, so none is left behind, however its parent died.
"""

from __future__ import annotations

import importlib
import sys

CONTEXT_TOKENS = 2048
THREADS = 1
"""Two of them run beside a gateway, on machines with two cores."""


def main() -> None:
    """Serve on 127.0.0.1 until the parent is gone."""
    model, port = sys.argv[1:]
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.n_gpu_layers = 0
    server = llama.Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
