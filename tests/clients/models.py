"""Two real model servers as routes, the first of which is killed (SIGKILL) while it works.

llama.cpp with a model of 100 MB, on one thread. A long prompt takes it seconds to read, and no
event comes before it is read.
"""

from __future__ import annotations

from latchway.demo.llama import PASSAGE

MODEL = "smollm2"
PRICE = {"input": 1, "output": 4}
LONG_PROMPT = PASSAGE * 20 + "Say in one short sentence what a bridge is."
"""About 900 tokens: four seconds of reading."""
SHORT_PROMPT = "Tell a long story about a bridge."

READING_SECONDS = 0.5
"""After this the server is amid the prompt."""
START_SECONDS = 60.0
SCENE_SECONDS = 120.0
LOOK_SECONDS = 0.05

CONFIGURATION = """\
providers:
  first: {{base_url: "http://127.0.0.1:{first}/v1"}}
  second: {{base_url: "http://127.0.0.1:{second}/v1"}}
models:
  smollm2:
    price: {{input: 1, output: 4}}
    context_tokens: 2048
    max_output_tokens: 2048
    routes:
      - {{provider: first, store_default: false}}
      - {{provider: second, store_default: false}}
"""
