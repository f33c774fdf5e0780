"""One conversation of a Python program: the job it is given, and what it makes of it.

The last argument is the job, as JSON: `url` (with /v1), `key`, `model`, `way` (how the program
keeps the conversation), `headers` (of the first question's turns alone) and `questions`. It prints,
as JSON, the answers that it got, how often its tool ran, and what was raised if something was.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

Job = dict[str, Any]

TOOL_SAYS = "open"
ran: list[str] = []
"""What the tool was asked, each time that it ran."""


def look_up(what: str) -> str:
    """Look up in what state a thing is."""
    ran.append(what)
    return TOOL_SAYS


def converse(
    conversation: Callable[[Job], AsyncIterator[str]], raised: tuple[type[Exception], ...]
) -> None:
    """Hold it. `raised`: what the program's users have to expect, which is part of what is told."""
    answers: list[str] = []

    async def collect() -> None:
        async for answer in conversation(json.loads(sys.argv[-1])):
            answers.append(answer)

    fault = None
    try:
        asyncio.run(collect())
    except raised as error:
        fault = f"{type(error).__name__}: {error}"
    print(json.dumps({"answers": answers, "tools": len(ran), "raised": fault}))
