"""One llama.cpp server for one model: MODEL_FILE PORT. It lives until its standard input ends.

The model was never taught to call tools. The template here shows it the calls of the conversation
as lines of text, which it continues at temperature 0, and which llama.cpp reads as calls.
"""

from __future__ import annotations

import sys

import xllamacpp

CONTEXT_TOKENS = 2048
THREADS = 1
"""Two of them run beside a gateway, on machines with two cores."""

TEMPLATE = r"""
{%- if tools %}
{{- '<|im_start|>system\nYou call functions.\n<tools>' }}
{%- for tool in tools %}{{- '\n' + (tool | tojson) }}{% endfor %}
{{- '\n</tools>\nA call looks so:\n<tool_call>\n' }}
{{- '{"name": <name>, "arguments": <arguments>}\n</tool_call><|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.tool_calls %}
{{- '<|im_start|>assistant' }}
{%- for call in message.tool_calls %}
{{- '\n<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + '}\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}
"""


def main() -> None:
    """Serve on 127.0.0.1 until the parent is gone."""
    model, port = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.chat_template = TEMPLATE
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.n_gpu_layers = 0
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
