"""The loop that people write around openai-python with tools: `responses.create`, streamed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from conversing import Job, converse, look_up
from openai import AsyncOpenAI, OpenAIError

WAYS: dict[str, dict[str, Any]] = {
    "sealed": {"store": False, "include": ["reasoning.encrypted_content"]},
    "chained": {},
    "whole": {},
}
TOOL: dict[str, Any] = {
    "type": "function",
    "name": "look_up",
    "parameters": {"type": "object", "properties": {"what": {"type": "string"}}},
}


class ResponseFailed(Exception):
    """`response.failed`: the SDK hands it on like any event."""


async def conversation(job: Job) -> AsyncIterator[str]:
    """`chained`: each turn names the response before it; else the whole history is sent."""
    client = AsyncOpenAI(api_key=job["key"], base_url=job["url"])
    request: dict[str, Any] = {"model": job["model"], "tools": [TOOL], **WAYS[job["way"]]}
    request["extra_headers"] = job["headers"]
    history: list[Any] = []
    for question in job["questions"]:
        news: list[Any] = [{"role": "user", "content": question}]
        while news:
            history = [*history, *news]
            response = await _turn(client, request | {"input": history})
            news = [_said(item) for item in response["output"] if item["type"] == "function_call"]
            if job["way"] == "chained":
                history, request["previous_response_id"] = [], response["id"]
            else:
                history += response["output"]
        yield response["output"][-1]["content"][0]["text"]
        request["extra_headers"] = {}


async def _turn(client: AsyncOpenAI, request: dict[str, Any]) -> dict[str, Any]:
    """The response that its stream ends with."""
    async for event in await client.responses.create(stream=True, **request):
        last = event
    response = last.response.model_dump(mode="json", exclude_unset=True)
    if last.type != "response.completed":
        raise ResponseFailed(response["error"]["code"])
    return response


def _said(call: dict[str, Any]) -> dict[str, Any]:
    """The tool's answer to a call of it."""
    output = look_up(**json.loads(call["arguments"]))
    return {"type": "function_call_output", "call_id": call["call_id"], "output": output}


converse(conversation, (OpenAIError, ResponseFailed))
