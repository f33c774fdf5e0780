"""A client that leaves: many turns at once with the OpenAI SDK, each broken off at the same place.

    python leaver.py URL KEY MODEL WHERE TURNS

WHERE: `hold`, before any event came; `output`, at the first text; `completed`, right after
`response.completed`, without reading to the end. Prints how many turns got that far.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from openai import AsyncOpenAI

HOLD_SECONDS = 2.0
"""Its patience with a gateway that holds all events back for longer; by then even a busy machine
has called the upstream."""
AT_ONCE = 20

url, key, model, where, turns = sys.argv[1:]


async def leave_during_hold(client: AsyncOpenAI) -> bool:
    asked = client.responses.create(model=model, input="Hi.", stream=True)
    try:
        await asyncio.wait_for(asked, HOLD_SECONDS)
    except TimeoutError:
        return True
    return False


async def leave_at(event_type: str, client: AsyncOpenAI) -> bool:
    events = await client.responses.create(model=model, input="Hi.", stream=True)
    seen = await came(events, event_type)
    await events.close()
    return seen


async def came(events: AsyncIterator[Any], event_type: str) -> bool:
    async for event in events:
        if event.type == event_type:
            return True
    return False


async def turn(client: AsyncOpenAI, places: asyncio.Semaphore) -> bool:
    async with places:
        if where == "hold":
            return await leave_during_hold(client)
        wanted = "response.output_text.delta" if where == "output" else "response.completed"
        return await leave_at(wanted, client)


async def main() -> None:
    places = asyncio.Semaphore(AT_ONCE)
    async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as client:
        done = await asyncio.gather(*(turn(client, places) for _ in range(int(turns))))
    print(sum(done))


asyncio.run(main())
