"""What a request leaves behind at the server, as far as the request itself says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """What the server may have kept of a turn, even of one that failed."""

    NONE = "none"
    STORED = "stored"
    CONTINUED = "continued"


def state_of(request: Mapping[str, Any]) -> State:
    """Only `store: false` says that nothing is stored: an omitted `store` is true at OpenAI.

    A background response is kept while it is made, whatever `store` says.
    """
    if request.get("background") or request.get("store") is not False:
        return State.STORED
    if request.get("previous_response_id") or request.get("conversation"):
        return State.CONTINUED
    return State.NONE
