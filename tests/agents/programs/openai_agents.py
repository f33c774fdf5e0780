"""The OpenAI Agents SDK: an agent with one tool, its runs streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from conversing import Job, converse, look_up
from openai import OpenAIError

from agents import (
    Agent,
    AgentsException,
    ModelSettings,
    OpenAIProvider,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)

SEALED = {"store": False, "response_include": ["reasoning.encrypted_content"]}


async def conversation(job: Job) -> AsyncIterator[str]:
    """`chained`: each turn names the response before it; else the whole history is sent."""
    set_tracing_disabled(True)
    settings = SEALED if job["way"] == "sealed" else {}
    chained = job["way"] == "chained"
    provider = OpenAIProvider(api_key=job["key"], base_url=job["url"], use_responses=True)
    agent = Agent(name="guide", model=job["model"], tools=[function_tool(look_up)])
    last: Any = None
    for question in job["questions"]:
        headers = job["headers"] if last is None else {}
        before = [] if last is None or chained else last.to_input_list()
        last = Runner.run_streamed(
            agent,
            [*before, {"role": "user", "content": question}],
            run_config=RunConfig(
                model_provider=provider,
                model_settings=ModelSettings(extra_headers=headers, **settings),
            ),
            previous_response_id=last.last_response_id if last and chained else None,
            auto_previous_response_id=chained,
        )
        async for _ in last.stream_events():
            pass
        yield last.final_output


converse(conversation, (AgentsException, OpenAIError))
