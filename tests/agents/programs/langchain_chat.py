"""langchain-openai: the loop that people write around `ChatOpenAI` with tools, streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from conversing import Job, converse, look_up
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAIError

WAYS: dict[str, dict[str, Any]] = {
    "sealed": {"store": False, "include": ["reasoning.encrypted_content"]},
    "chained": {"use_previous_response_id": True},
    "whole": {},
}

look_up_tool = tool(look_up)


async def conversation(job: Job) -> AsyncIterator[str]:
    """`chained`: each turn names the response before it; else the whole history is sent."""
    model = ChatOpenAI(
        model=job["model"],
        api_key=job["key"],
        base_url=job["url"],
        use_responses_api=True,
        output_version="responses/v1",
        **WAYS[job["way"]],
    ).bind_tools([look_up_tool])
    messages: list[Any] = []
    headers = job["headers"]
    for question in job["questions"]:
        messages.append(HumanMessage(question))
        answer = await _answer(model, messages, headers)
        yield answer.text
        headers = {}


async def _answer(model: Any, messages: list[Any], headers: dict[str, str]) -> AIMessageChunk:
    """Call the model until it calls no tool any more."""
    while True:
        answer: Any = None
        async for chunk in model.astream(messages, extra_headers=headers):
            answer = chunk if answer is None else answer + chunk
        messages.append(answer)
        if not answer.tool_calls:
            return answer
        for call in answer.tool_calls:
            said = look_up_tool.invoke(call["args"])
            messages.append(ToolMessage(said, tool_call_id=call["id"]))


converse(conversation, (ValueError, OpenAIError))
