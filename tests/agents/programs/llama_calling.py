"""llama.cpp whose template leads a small model to call Codex's tool: LAUNCHER MODEL_FILE PORT.

The model was never taught to call tools. So the template shows it, behind all that Codex says of
itself, the one tool and a few calls of it as lines of text. What it goes on with is its own choice,
token for token at temperature 0; llama.cpp reads it as a call, or as an answer if it is none.

The launcher is named for all alike, and not used: there is no template to be told to it.
"""

from __future__ import annotations

import sys

import xllamacpp

CONTEXT_TOKENS = 8192
"""Codex asks with 5,400 tokens of this template, most of them instructions."""
THREADS = 1
"""A gateway and Codex run beside it, on machines with two cores."""

TEMPLATE = r"""
{%- macro said(role, text) %}
{{- '<|im_start|>' + role + '\n' + text + '<|im_end|>\n' }}
{%- endmacro %}
{%- macro call(name, arguments) %}
{{- '<tool_call>\n{"name": "' + name + '", "arguments": ' + (arguments | tojson) }}
{{- '}\n</tool_call>' }}
{%- endmacro %}
{%- set begin = '<environment_context>' %}
{%- for message in messages if message.role == 'system' or message.content.startswith(begin) %}
{{- said(message.role, message.content) }}
{%- endfor %}
{%- for tool in tools or [] if tool.function.name == 'exec_command' %}
{{- said('system', 'You call a function.\n' + (tool | tojson)) }}
{%- for command, output in [
  ('echo open', 'open'), ('cat a.txt | tee b.txt', 'two doors'), ('cat c.txt', 'red bridge')
] %}
{{- said('user', 'Run `' + command + '`.') }}
{{- said('assistant', call('exec_command', {'cmd': command})) }}
{{- said('tool', 'Chunk ID: 4f2a77\nWall time: 0.0000 seconds\nProcess exited with code 0\n'
  + 'Original token count: 2\nOutput:\n' + output) }}
{{- said('assistant', 'It printed ' + output + '.') }}
{%- endfor %}
{%- endfor %}
{%- for message in messages if message.role != 'system' and not message.content.startswith(begin) %}
{%- if message.tool_calls %}
{%- for made in message.tool_calls %}
{{- said('assistant', call(made.function.name, made.function.arguments)) }}
{%- endfor %}
{%- else %}
{{- said(message.role, message.content) }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}
"""


def main() -> None:
    """Serve on 127.0.0.1 until the parent is gone."""
    _, model, port = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.chat_template = TEMPLATE
    params.sampling.temp = 0
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
