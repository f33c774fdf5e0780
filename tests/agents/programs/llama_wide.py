"""llama.cpp with room for an agent's prompt: LAUNCHER MODEL_FILE PORT.

The launcher is latchway's own (`demo/llama_server.py`), whose room is enough for its demo.
"""

from __future__ import annotations

import importlib.util
import sys

CONTEXT_TOKENS = 8192
"""Codex asks with 4,600 tokens, most of them instructions and tools."""

spec = importlib.util.spec_from_file_location("launcher", sys.argv.pop(1))
assert spec
assert spec.loader
launcher = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launcher)
launcher.CONTEXT_TOKENS = CONTEXT_TOKENS
launcher.main()
