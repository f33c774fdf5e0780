"""How much of a request counts on its bill, reckoned without the gateway's own code."""

from __future__ import annotations

import json


def prompt_bytes(asked: bytes) -> int:
    """What it says to a model: no wrapping, and no blanks between its members. For ASCII, and
    values as `json.dumps` writes them."""
    said = {k: v for k, v in json.loads(asked).items() if k not in ("type", "stream")}
    members = [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in said.items()]
    return len("{" + ",".join(members) + "}")
