"""How much of a request counts on its bill, reckoned without the gateway's own code."""

from __future__ import annotations

import json
import re

WRAPPING = ('"type"', '"stream"')
NAME = re.compile(r'\s*[{,]\s*("[^"]*")\s*:\s*')
VALUE = json.JSONDecoder()


def prompt_bytes(asked: bytes) -> int:
    """What it says to a model: no wrapping, and no blanks between its members, whose values count
    as they stand there. For ASCII."""
    text, at, said = asked.decode("ascii"), 0, []
    while (name := NAME.match(text, at)) is not None:
        _, at = VALUE.raw_decode(text, name.end())
        if name[1] not in WRAPPING:
            said.append(f"{name[1]}:{text[name.end() : at]}")
    return len("{" + ",".join(said) + "}")
