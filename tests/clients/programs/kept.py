"""All that the OpenAI SDK asks of stored responses and of conversations, one after the other.

    python kept.py URL KEY MODEL

Prints what came of each step, as JSON: a value, or the status of the error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from openai import APIStatusError, OpenAI

url, key, model = sys.argv[1:]
client = OpenAI(base_url=url, api_key=key, max_retries=0)
seen: dict[str, Any] = {}


def step(name: str, ask: Callable[[], Any]) -> Any:
    """Note what is to be seen of it."""
    try:
        seen[name] = ask()
    except APIStatusError as fault:
        seen[name] = fault.status_code
    return seen[name]


responses, conversations = client.responses, client.conversations
talk = conversations.create(items=[{"type": "message", "role": "user", "content": "Hi."}])
first = responses.create(model=model, input="One.", conversation=talk.id)
second = responses.create(model=model, input="Two.", previous_response_id=first.id)

step("conversation", lambda: conversations.retrieve(talk.id).id == talk.id)
step("renamed", lambda: conversations.update(talk.id, metadata={"a": "b"}).metadata)
step("its items", lambda: len(conversations.items.list(talk.id).data))
added = conversations.items.create(talk.id, items=[{"role": "user", "content": "More."}])
item = added.data[0].id
step("an item", lambda: conversations.items.retrieve(item, conversation_id=talk.id).id == item)
step("an item's end", lambda: conversations.items.delete(item, conversation_id=talk.id).id)
step("served by", lambda: [first.output_text, second.output_text])
step("retrieved", lambda: responses.retrieve(first.id).output_text)
told = responses.retrieve(first.id, stream=True, starting_after=0)
step("told again", lambda: [event.type for event in told])
step("its input", lambda: [item.id for item in responses.input_items.list(first.id).data])
step("cancelled", lambda: responses.cancel(first.id).id == first.id)
step("counted", lambda: responses.input_tokens.count(model=model, input="Hi.").input_tokens)
compacted = step(
    "compacted", lambda: [i.type for i in responses.compact(model=model, input="Hi.").output]
)
step("deleted", lambda: responses.delete(first.id))
step("deleted again", lambda: responses.delete(first.id))
step("unknown", lambda: responses.retrieve("resp_nobody"))
step("an unknown conversation", lambda: conversations.retrieve("conv_nobody"))
print(json.dumps({"seen": seen, "ids": {"talk": talk.id, "second": second.id}}))
