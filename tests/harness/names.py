"""Names in a world without name servers: each is its own address, and is found at once."""

from __future__ import annotations

from latchway.upstreams.lookup import Found


async def itself(host: str) -> Found:
    """`lookup.Find`. Whoever makes the connections knows all hosts by name."""
    return (host,)
