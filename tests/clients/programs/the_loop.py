"""The program that must run unchanged: openai-python 2.15.0, no `store`, its own timeout of 30 s.

python the_loop.py URL KEY MODEL INPUT
"""

from __future__ import annotations

import sys

from openai import OpenAI

url, key, model, text = sys.argv[1:]
client = OpenAI(base_url=url, api_key=key, max_retries=0, timeout=30.0)
events = client.responses.create(model=model, input=text, stream=True)
for event in events:
    print(event.to_json(indent=None, warnings=False), flush=True)
