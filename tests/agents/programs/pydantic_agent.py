"""pydantic-ai: an agent with one tool, its runs streamed.

A word before the job, `quiet`: without the diagnostics of the prompt cache, for which it names the
response before in every request.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from conversing import Job, converse, look_up
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

WAYS: dict[str, dict[str, Any]] = {
    "sealed": {"openai_store": False},
    "chained": {"openai_previous_response_id": "auto"},
    "whole": {},
}
OWN: dict[str, Any] = {"openai_prompt_cache_diagnostics": False} if "quiet" in sys.argv else {}


async def conversation(job: Job) -> AsyncIterator[str]:
    """`chained`: each turn names the response before it; else the whole history is sent."""
    provider = OpenAIProvider(base_url=job["url"], api_key=job["key"])
    agent = Agent(OpenAIResponsesModel(job["model"], provider=provider), tools=[look_up])
    history: list[Any] = []
    headers = job["headers"]
    for question in job["questions"]:
        settings: Any = {**WAYS[job["way"]], **OWN, "extra_headers": headers}
        asked = agent.run_stream(question, message_history=history, model_settings=settings)
        async with asked as run:
            yield await run.get_output()
        history, headers = run.all_messages(), {}


converse(conversation, (AgentRunError,))
